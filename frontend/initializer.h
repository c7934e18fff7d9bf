// Initializers: the initial values of parameters, as IR in @init. Random values depend on the seed and the parameter's
// path.
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
  std::map<std::string, std::string, std::less<>> words;  // settings with text values
};

// The fan-in and fan-out of a weight: from [out, in] of a dense weight, or [out, in, h, w] of a convolution, where both
// are multiplied by the window's size h * w.
struct Fans {
  double in = 1, out = 1;
};
Fans fans(const ir::Dims& dims);

struct InitializerDef {
  std::string name;
  std::string doc;
  std::vector<Key> settings = {};
  // Builds the initial value, of `type`. `random` builds a source such as "random_normal" with this parameter's stream.
  std::function<ir::ValueId(ir::Builder&, const ir::Type& type, const Initializer&,
                            const std::function<ir::ValueId(std::string_view op)>& random)>
      build;
  std::function<void(const Settings&)> check = {};  // checks settings that depend on each other
  size_t least_rank = 0;                            // the least rank of a parameter that it can initialize
};

struct RegisterInitializer {
  explicit RegisterInitializer(InitializerDef def);
};
const InitializerDef* find_initializer(std::string_view name);
std::vector<std::string> initializer_names();

struct Part;
// The initializer with its settings evaluated in `scope`. Throws UserError for unknown names and keys.
Initializer make_initializer(const Part& part, const Scope& scope);
Initializer make_initializer(const std::string& name);  // with default settings

}  // namespace heddle::frontend
