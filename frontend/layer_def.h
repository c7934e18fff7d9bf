// LayerDef: the complete definition of a layer. To add a layer, add one file in frontend/layers.
//
//   {"name": "fc1", "op": "dense", "units": 128}
//     -> parameters %fc1.weight: f32[128,784], %fc1.bias: f32[128]; matmul, broadcast, add
//
// Elementwise operators of the IR can be nodes, too, with NumPy broadcasting and number literals. They need no
// definition here.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/keys/settings.h"
#include "ir/builder.h"

namespace heddle::frontend {

class LayerContext;

struct LayerDef {
  std::string name;
  std::string doc;
  std::vector<std::string> inputs = {"x"};  // port names
  std::vector<std::string> optional = {};   // further ports, which may be left out
  bool variadic = false;                    // any number of inputs, at least one
  bool literals = false;                    // number literals may be inputs
  bool activation = false;                  // may stand in another layer's "activation"
  std::vector<Key> settings = {};
  // For a layer whose nodes name their results in `out`: the number of results for these settings; nullopt if it
  // depends on an expression. Empty: one result.
  std::function<std::optional<size_t>(const std::vector<Json>& settings)> results = {};
  bool runs_block = false;      // runs a block turn after turn; the instantiation builds it instead of `build`
  std::string parameters = {};  // names and shapes, for the reference: "weight [units, in], bias [units]"
  std::function<ir::Values(LayerContext&)> build;
};

struct RegisterLayer {
  explicit RegisterLayer(LayerDef def);
};
const LayerDef* find_layer(std::string_view name);  // nullptr when unknown; elementwise operators of the IR included
std::vector<std::string> layer_names();             // sorted
std::vector<std::string> activation_names();        // sorted

}  // namespace heddle::frontend
