// Initializers: how parameters start, as IR in @init, keyed by (seed, parameter path).
//
//   {"op": "normal", "std": 0.02} for %fc1.weight
//     -> %fc1.weight.random: f32[128,784] = random_normal(%seed, %zero)
//                                           {shape = [128,784], stream = fnv1a("fc1.weight")}
//        %fc1.weight.init = mul(%fc1.weight.random, 0.02)
#pragma once
#include <functional>
#include <map>
#include <string>

#include "frontend/keys/settings.h"
#include "ir/builder.h"

namespace heddle::frontend {

struct InitializerDef;

// An initializer with its settings evaluated.
struct Initializer {
  const InitializerDef* def = nullptr;
  std::map<std::string, double, std::less<>> values;
  std::map<std::string, std::string, std::less<>> words;  // settings that are text
};

// Inputs and outputs of one unit: [out, in] of a dense weight, times the window of a convolution [out, in, h, w].
struct Fans {
  double in = 1, out = 1;
};
Fans fans(const ir::Dims& dims);

struct InitializerDef {
  std::string name;
  std::string doc;
  std::vector<Key> settings = {};
  // A value of `type`; `random` makes the named source ("random_normal") for this parameter.
  std::function<ir::ValueId(ir::Builder&, const ir::Type& type, const Initializer&,
                            const std::function<ir::ValueId(std::string_view op)>& random)>
      build;
  std::function<void(const Settings&)> check = {};  // of settings that belong together
  size_t least_rank = 0;                            // of the parameters that it is for
};

struct RegisterInitializer {
  explicit RegisterInitializer(InitializerDef def);
};
const InitializerDef* find_initializer(std::string_view name);
std::vector<std::string> initializer_names();

struct Part;
// Settings evaluated over `scope`; throws UserError for unknown names and keys.
Initializer make_initializer(const Part& part, const Scope& scope);
Initializer make_initializer(const std::string& name);  // with its defaults

}  // namespace heddle::frontend
