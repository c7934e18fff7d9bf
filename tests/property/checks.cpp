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
  NamedTensors up = inputs, down = inputs;
  double slope = 0;
  size_t output = first_gradient;
  for (const ValueId v : g.inputs) {
    if (g[v].role != Role::param) continue;
    const std::string& name = g[v].name;
    for (int64_t i = 0; i < g[v].type.elements(); ++i) {
      const double d = direction.at(name).at(i);
      slope += at.outputs.at(output).at(i) * d;
      up.at(name).set(i, inputs.at(name).at(i) + kStep * d);
      down.at(name).set(i, inputs.at(name).at(i) - kStep * d);
    }
    ++output;
  }
  const double rise = evaluate(m, g, up).outputs[0].at(0) - evaluate(m, g, down).outputs[0].at(0);
  EXPECT_NEAR(slope, rise / (2 * kStep), tolerance * std::max(1.0, std::abs(slope)));
}

}  // namespace heddle::testing
