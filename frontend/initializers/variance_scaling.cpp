// variance_scaling, by keras.initializers.VarianceScaling (jax.nn.initializers.variance_scaling).
#include <cmath>

#include "frontend/initializers/parts.h"

namespace heddle::frontend {
namespace {

using ir::Builder;
using ir::ValueId;

// The deviation of the standard normal distribution without what lies outside [-2, 2].
constexpr double kTruncated = 0.87962566103423978;

double fan(const ir::Type& type, const std::string& mode) {
  const auto [in, out] = fans(type.dims);
  return mode == "fan_in" ? in : mode == "fan_out" ? out : (in + out) / 2;
}

ValueId build(Builder& b, const ir::Type& type, const Initializer& init, const Random& random) {
  const double variance = init.values.at("scale") / fan(type, init.words.at("mode"));
  const std::string& distribution = init.words.at("distribution");
  if (distribution == "uniform") return between(b, random, -std::sqrt(3 * variance), std::sqrt(3 * variance));
  if (distribution == "untruncated_normal") return around(b, random, 0, std::sqrt(variance));
  const double deviation = std::sqrt(variance) / kTruncated;
  return truncated(b, random, 0, deviation, -2 * deviation, 2 * deviation);
}

// The first of the words is the default.
Key word(const std::string& name, const std::string& doc, const std::vector<std::string>& words) {
  return {.name = name, .type = KeyType::text, .doc = doc, .fallback = words[0], .words = words};
}

const RegisterInitializer variance_scaling({
    .name = "variance_scaling",
    .doc = "variance scale / n, where n is the inputs, the outputs or their mean",
    .settings = {{.name = "scale",
                  .type = KeyType::real,
                  .doc = "of the variance",
                  .fallback = 1.0,
                  .range = as_f32(ir::kAboveZero)},
                 word("mode", "n: fan_in, fan_out or fan_avg", {"fan_in", "fan_out", "fan_avg"}),
                 word("distribution", "truncated_normal, untruncated_normal or uniform",
                      {"truncated_normal", "untruncated_normal", "uniform"})},
    .build = build,
});

}  // namespace
}  // namespace heddle::frontend
