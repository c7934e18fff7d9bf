// Gradients against central differences, in double precision, for every differentiable operator on every sample: with
// random weights r_k of each floating result, the derivative of sum_k <r_k, y_k> by every element of every floating
// operand.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "ir/gradient_flow.h"
#include "passes/differentiate.h"
#include "tests/numeric/harness.h"

namespace heddle::testing {
namespace {

using namespace ir;

constexpr double kStep = 1e-4;  // of the five-point formula, whose error is of order step^4
constexpr double kRelative = 1e-6;
constexpr double kFloor = 1e-3;        // gradients below this fraction of the largest are compared with that fraction
constexpr int64_t kMostElements = 48;  // of an operand that are perturbed one by one

// A graph that computes values to be weighted and summed: floating values, in the order of `names`.
struct Weighted {
  Module module;
  NamedTensors inputs;
  std::vector<Tensor> weights;

  double operator()(const NamedTensors& at) const {
    const Evaluation result = evaluate(module, module.graphs[0], at);
    double sum = 0;
    for (size_t k = 0; k < weights.size(); ++k)
      if (result.outputs[k].floating())
        for (size_t i = 0; i < weights[k].real.size(); ++i) sum += weights[k].real[i] * result.outputs[k].real[i];
    return sum;
  }
};

// The five-point central difference along `direction`, the only perturbed operand's elements.
double difference(const Weighted& f, const std::string& name, const std::vector<double>& direction) {
  const auto at = [&](double t) {
    NamedTensors moved = f.inputs;
    for (size_t i = 0; i < direction.size(); ++i) moved[name].real[i] += t * direction[i];
    return f(moved);
  };
  return (8 * (at(kStep) - at(-kStep)) - (at(2 * kStep) - at(-2 * kStep))) / (12 * kStep);
}

void expect_near(double expected, double got, double largest, const std::string& what) {
  const double tolerance = kRelative * (std::abs(expected) + kFloor * largest) + 1e-11;
  EXPECT_LE(std::abs(expected - got), tolerance) << what << ": central difference " << expected << ", gradient " << got;
}

double largest_of(const Tensor& t) {
  double largest = 0;
  for (const double v : t.real) largest = std::max(largest, std::abs(v));
  return largest;
}

// Single elements, evenly spread where there are many, then one random direction through all of them.
void compare(const Weighted& f, const std::string& name, const Tensor& gradient) {
  const auto count = static_cast<size_t>(gradient.elements());
  const double largest = largest_of(gradient);
  const size_t stride = (count - 1) / static_cast<size_t>(kMostElements) + 1;
  for (size_t i = 0; i < count; i += stride) {
    std::vector<double> direction(count, 0);
    direction[i] = 1;
    expect_near(difference(f, name, direction), gradient.real[i], largest, name + "[" + std::to_string(i) + "]");
  }
  const Tensor random = random_tensor({DType::f64, {gradient.elements()}}, -1, 1, 0, hash_text(name));
  double along = 0;
  for (size_t i = 0; i < count; ++i) along += random.real[i] * gradient.real[i];
  expect_near(difference(f, name, random.real), along, largest * std::sqrt(static_cast<double>(count)),
              name + " along a direction");
}

std::vector<Tensor> random_weights(const Graph& g, const std::vector<ValueId>& values, uint64_t seed) {
  std::vector<Tensor> weights;
  for (size_t k = 0; k < values.size(); ++k) weights.push_back(random_tensor(g[values[k]].type, -1, 1, 1, seed + k));
  return weights;
}

// sum_k <weight inputs, values>, as IR; the weights become inputs named `prefix`0, ...
ValueId weighted_sum(Graph& g, const std::vector<ValueId>& values, const std::string& prefix) {
  Builder b(g);
  ValueId total;
  for (size_t k = 0; k < values.size(); ++k) {
    const Type type = g[values[k]].type;
    if (!is_floating(type.dtype)) continue;
    const ValueId weight = g.add_input(prefix + std::to_string(k), type, Role::input);
    ValueId sum = b("reduce_sum", {b("mul", {values[k], weight})});
    sum = b.cast(sum, DType::f64);
    total = total.valid() ? b("add", {total, sum}) : sum;
  }
  return total;
}

std::vector<ValueId> floating_of(const Graph& g, const std::vector<ValueId>& values) {
  std::vector<ValueId> floating;
  for (const ValueId v : values)
    if (is_floating(g[v].type.dtype)) floating.push_back(v);
  return floating;
}

// gradient(weighted sum of `values`, v) for each of `by`.
std::vector<ValueId> add_gradients(Graph& g, const std::vector<ValueId>& values, const std::vector<ValueId>& by,
                                   const std::string& prefix) {
  const ValueId loss = weighted_sum(g, values, prefix);
  std::vector<ValueId> gradients;
  for (const ValueId v : by) gradients.push_back(Builder(g)("gradient", {loss, v}, {}, g[v].name + ".grad"));
  return gradients;
}

NamedTensors with_weights(NamedTensors inputs, const std::vector<Tensor>& weights, const std::string& prefix) {
  for (size_t k = 0; k < weights.size(); ++k)
    if (weights[k].floating()) inputs[prefix + std::to_string(k)] = weights[k];
  return inputs;
}

class Gradient : public ::testing::TestWithParam<Case> {};

TEST_P(Gradient, AgreesWithCentralDifferences) {
  OneOp one = one_op(GetParam());
  const std::vector<Tensor> weights = random_weights(one.graph(), one.results, 1);
  const Weighted f{one.module, random_inputs(GetParam()), weights};
  const std::vector<ValueId> by = floating_of(one.graph(), one.inputs);
  one.graph().outputs = add_gradients(one.graph(), one.results, by, "r");
  passes::differentiate(one.module, {});
  const NamedTensors inputs = with_weights(f.inputs, weights, "r");
  const Evaluation result = evaluate(one.module, one.graph(), inputs);
  for (size_t i = 0; i < by.size(); ++i) compare(f, one.graph()[by[i]].name, result.outputs[i]);
}

TEST_P(Gradient, OfGradientAgreesWithCentralDifferences) {
  if (GetParam().op->name == "digamma") GTEST_SKIP() << "its gradient, trigamma, has none: that operator says why";
  OneOp one = one_op(GetParam());
  Graph& g = one.graph();
  const std::vector<ValueId> by = floating_of(g, one.inputs);
  const std::vector<Tensor> outer = random_weights(g, by, 2), inner = random_weights(g, one.results, 1);
  const NamedTensors inputs = with_weights(random_inputs(GetParam()), inner, "r");
  g.outputs = add_gradients(g, one.results, by, "r");
  Weighted f{one.module, inputs, outer};
  passes::differentiate(f.module, {});
  g.outputs = add_gradients(g, g.outputs, by, "s");
  passes::differentiate(one.module, {});
  const Evaluation result = evaluate(one.module, g, with_weights(inputs, outer, "s"));
  for (size_t i = 0; i < by.size(); ++i) compare(f, g[by[i]].name, result.outputs[i]);
}

// Operators that say what gradient their operand gets are not asked: it is another one.
bool wanted(const Case& c) {
  if (gradient_flow(*c.op) != nullptr) return false;
  if (!is_differentiable(*c.op) || !has_floating_operand(c)) return false;
  OneOp one = one_op(c);
  return !floating_of(one.graph(), one.results).empty();
}

INSTANTIATE_TEST_SUITE_P(Operators, Gradient, ::testing::ValuesIn(cases_where(wanted)),
                         [](const auto& info) { return to_string(info.param); });

// The slope at -20 is a multiple of e^-20, far below the last place of the values themselves: y + 1 would lose it.
TEST(Gradients, KeepTheirDigitsWhereTheFunctionSaturates) {
  const double slope = 2.0611536224385578e-9;
  for (const auto& [op, factor] : std::map<std::string, double>{
           {"elu", 1}, {"celu", 1}, {"expm1", 1}, {"selu", 1.0507009873554805 * 1.6732632423543772}}) {
    Module m;
    Graph& g = m.graphs.emplace_back();
    Builder b(g);
    const ValueId x = g.add_input("x", {DType::f32, {}}, Role::input);
    g.outputs = {b("gradient", {b(op, {x}), x})};
    passes::differentiate(m, {});
    Tensor at({DType::f32, {}});
    at.set(0, -20);
    const Evaluation e = evaluate(m, g, {{"x", at}}, {.precision = Precision::rounded});
    EXPECT_NEAR(e.outputs[0].real[0] / (slope * factor), 1, 1e-6) << op;
  }
}

TEST(Gradients, CoverTheOperators) {
  std::set<std::string> names;
  for (const Case& c : cases_where(wanted)) names.insert(c.op->name);
  EXPECT_GE(names.size(), 40u);
}

}  // namespace
}  // namespace heddle::testing
