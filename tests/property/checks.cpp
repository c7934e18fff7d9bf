#include "tests/property/checks.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/verify/verify.h"

namespace heddle::testing {

using namespace ir;

void expect_well_formed(const Module& m) {
  for (const std::string& problem : verify(m)) ADD_FAILURE() << problem;
}

void expect_slope(const Module& m, const Graph& g, const NamedTensors& inputs, const NamedTensors& direction,
                  size_t first_gradient, double tolerance) {
  constexpr double kStep = 1e-6;
  const Evaluation at = evaluate(m, g, inputs);
  double slope = 0;
  size_t output = first_gradient;
  for (const ValueId v : g.inputs) {
    if (g[v].role != Role::param) continue;
    const std::string& name = g[v].name;
    for (int64_t i = 0; i < g[v].type.elements(); ++i) {
      const double d = direction.at(name).at(i);
      slope += at.outputs.at(output).at(i) * d;
    }
    ++output;
  }
  const auto loss = [&](double step) {
    NamedTensors moved = inputs;
    for (const ValueId v : g.inputs) {
      if (g[v].role != Role::param) continue;
      Tensor& t = moved.at(g[v].name);
      for (int64_t i = 0; i < t.elements(); ++i) t.set(i, t.at(i) + step * direction.at(g[v].name).at(i));
    }
    return evaluate(m, g, moved).outputs[0].at(0);
  };
  const auto rise = [&](double step) { return (loss(step) - loss(-step)) / (2 * step); };
  // Richardson's extrapolation: of the steps' error, which grows with their square, nothing is left.
  EXPECT_NEAR(slope, (4 * rise(kStep) - rise(2 * kStep)) / 3, tolerance * std::max(1.0, std::abs(slope)));
}

}  // namespace heddle::testing
