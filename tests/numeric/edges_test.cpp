// Generated kernels at the edges of every dtype, against the oracles in rounded mode: every elementwise operator at
// every combination of edges, every cast between dtypes, every reduction of two edges.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "ir/evaluate/arithmetic.h"
#include "tests/numeric/edge_values.h"
#include "tests/numeric/harness.h"
#include "tests/support/host_run.h"
#include "tests/support/operator_attrs.h"

namespace heddle::testing {
namespace {

using namespace ir;

// Several functions of the same operands, as one graph.
class Functions {
 public:
  Functions() { graph().name = "edges"; }
  Graph& graph() { return module_.graphs.empty() ? module_.graphs.emplace_back() : module_.graphs[0]; }

  Values operands(const std::string& prefix, const std::vector<Tensor>& tensors) {
    Values ids;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const std::string name = fmt::format("{}{}", prefix, i);
      inputs_[name] = tensors[i];
      ids.push_back(graph().add_input(name, tensors[i].type, Role::input));
    }
    return ids;
  }
  void add(const std::string& op, const Values& operands, const Attrs& attrs = {}) {
    for (const ValueId v : Builder(graph()).multi(op, operands, attrs)) graph().outputs.push_back(v);
  }

  // Calls check(node, operands, expected, got) for each result.
  template <class Check>
  void compare(Check check) {
    const Evaluation expected = evaluate(module_, graph(), inputs_, {.precision = Precision::rounded});
    const Evaluation got = HostRun(module_, "edges")(inputs_);
    for (size_t i = 0; i < graph().outputs.size(); ++i) {
      const Node& n = *graph().def(graph().outputs[i]);
      SCOPED_TRACE(n.op->name + " to " + ir::to_string(expected.outputs[i].type.dtype));
      std::vector<const Tensor*> operands;
      for (const ValueId v : n.operands) operands.push_back(&inputs_.at(graph()[v].name));
      check(n, operands, expected.outputs[i], got.outputs[i]);
    }
  }

 private:
  Module module_;
  NamedTensors inputs_;
};

std::string point(const std::vector<const Tensor*>& operands, int64_t i) {
  std::string text;
  for (const Tensor* t : operands)
    text += t->floating() ? fmt::format(" {}", t->real[static_cast<size_t>(i)])
                          : fmt::format(" {}", t->integer[static_cast<size_t>(i)]);
  return text;
}

// Functions that are approximated; the others agree bit for bit.
bool is_approximate(const OpDef& op) {
  static const std::set<std::string> kNames = {
      "acos", "acosh", "asin",        "asinh",     "atan",         "atan2",      "atanh",      "cbrt",
      "celu", "cos",   "cosh",        "digamma",   "elu",          "erf",        "erf_inv",    "erfc",
      "exp",  "expm1", "gelu",        "gelu_tanh", "hard_sigmoid", "hard_swish", "leaky_relu", "lgamma",
      "log",  "log1p", "log_sigmoid", "mish",      "pow",          "rsqrt",      "selu",       "sigmoid",
      "silu", "sin",   "sinh",        "softplus",  "softsign",     "tan",        "tanh",       "trigamma"};
  return kNames.count(op.name) > 0;
}

struct Accuracy {
  double unit, spacing;  // relative to a result; of the smallest results
};

// 8 units in the last place of f32 and f64, 2 of the 16-bit types, which are computed in f32. Results of f32 functions
// below 2^-120 are as good as 0.
Accuracy accuracy(DType dtype) {
  switch (dtype) {
    case DType::f64: return {0x1p-49, 0x1p-149};
    case DType::f32: return {0x1p-20, 0x1p-120};
    case DType::f16: return {0x1p-10, 0x1p-24};
    default: return {0x1p-7, 0x1p-107};
  }
}

// What an approximation may be off by: units of the result, or of an operand of moderate size.
double tolerance(const OpDef& op, DType dtype, double expected, const std::vector<const Tensor*>& operands, int64_t i) {
  // The factors 1 + erf and 1 + tanh cancel below 0: what is left is accurate to units of the operand.
  const double moderate = op.name.starts_with("gelu") ? 8 : 3;
  double largest = 0;
  for (const Tensor* t : operands)
    if (std::abs(t->at(i)) <= moderate) largest = std::max(largest, std::abs(t->at(i)));
  const Accuracy a = accuracy(dtype);
  return a.unit * std::max(std::abs(expected), largest) + a.spacing;
}

void expect_agreement(const Node& n, const std::vector<const Tensor*>& operands, const Tensor& expected,
                      const Tensor& got) {
  int shown = 0;
  for (int64_t i = 0; i < expected.elements() && shown < 8; ++i) {
    const double e = expected.at(i), v = got.at(i);
    const bool near = is_approximate(*n.op) && expected.floating() &&
                      (e == v || std::abs(e - v) <= tolerance(*n.op, expected.type.dtype, e, operands, i));
    if (near || same_element(expected, got, i)) continue;
    ++shown;
    ADD_FAILURE() << "at" << point(operands, i) << ": expected " << e << ", kernel " << v;
  }
}

Attrs attributes(const OpDef& op, DType dtype) {
  if (op.name != "clamp" || !is_integer(dtype)) return required_attrs(op);
  const auto limit = static_cast<double>(dtype == DType::i32 ? lowest_integer(dtype) : is_signed(dtype) ? -3 : 1);
  return {{"low", limit}, {"high", 5.0}};
}

class Edges : public ::testing::TestWithParam<DType> {};

TEST_P(Edges, ElementwiseOperatorsAgreeWithTheirOracles) {
  const DType dtype = GetParam();
  const Tensor values = edge_values(dtype);
  Functions f;
  const Values one = f.operands("x", {values}), two = f.operands("a", combinations({values, values}));
  const Values three = f.operands("r", combinations({values, values, values}));
  const Values chosen = f.operands("c", combinations({all_values(DType::boolean), values, values}));
  const auto of = [&](const OpDef& op) {
    return op.operands.size() == 1 ? one : op.operands.size() == 2 ? two : three;
  };
  for (const OpDef* op : all_ops()) {
    if (!std::holds_alternative<Elementwise>(op->kind) || op->name == "cast") continue;
    const bool takes = op->dtypes.empty() || std::find(op->dtypes.begin(), op->dtypes.end(), dtype) != op->dtypes.end();
    if (op->name == "select")
      f.add("select", chosen);
    else if (takes)
      f.add(op->name, of(*op), attributes(*op, dtype));
  }
  f.compare(expect_agreement);
}

TEST_P(Edges, CastsAgreeWithTheirOracle) {
  Functions f;
  const Values x = f.operands("x", {edge_values(GetParam())});
  for (const DType to : all_dtypes()) f.add("cast", x, {{"dtype", ir::to_string(to)}});
  f.compare(expect_agreement);
}

// The edges as literals: text has to say each exactly.
TEST_P(Edges, ConstantsAgreeWithTheirOracle) {
  const DType dtype = GetParam();
  const Tensor values = edge_values(dtype);
  Functions f;
  f.operands("x", {Tensor({dtype, {1}})});
  std::set<double> seen;
  for (int64_t i = 0; i < values.elements(); ++i)
    if (std::isnan(values.at(i)) || seen.insert(values.at(i)).second)
      f.add("constant", {}, {{"value", values.at(i)}, {"shape", Dims{1}}, {"dtype", ir::to_string(dtype)}});
  f.compare(expect_agreement);
}

// Pairs of edges, along rows and along columns.
TEST_P(Edges, ReductionsAgreeWithTheirOracles) {
  const DType dtype = GetParam();
  if (dtype == DType::boolean) return;  // no reduction takes it
  const Tensor values = edge_values(dtype);
  const std::vector<Tensor> pairs = combinations({values, values});
  const int64_t count = pairs[0].elements();
  Tensor rows({dtype, {count, 2}}), columns({dtype, {2, count}}), image({dtype, {1, count, 2, 1}});
  for (int64_t i = 0; i < count; ++i)
    for (int64_t k = 0; k < 2; ++k) {
      rows.copy(2 * i + k, pairs[static_cast<size_t>(k)], i);
      image.copy(2 * i + k, pairs[static_cast<size_t>(k)], i);
      columns.copy(k * count + i, pairs[static_cast<size_t>(k)], i);
    }
  Functions f;
  const Values x = f.operands("x", {rows, columns, image});
  for (const OpDef* op : all_ops()) {
    const bool takes = std::find(op->dtypes.begin(), op->dtypes.end(), dtype) != op->dtypes.end();
    if (!std::holds_alternative<Reduction>(op->kind) || op->operands.size() != 1 || !takes) continue;
    for (const int64_t axis : {int64_t{0}, int64_t{1}}) {
      const Values operand = {x[axis == 0 ? 1 : 0]};
      if (op->find_attr("axes")) f.add(op->name, operand, {{"axes", Dims{axis}}});
      if (op->find_attr("axis") && !op->find_attr("size"))  // not a resize, not an adaptive pool
        f.add(op->name, operand, {{"axis", axis}});
    }
    if (op->name == "max_pool2d") f.add(op->name, {x[2]}, {{"window", Dims{1, 2}}});
  }
  f.compare([&](const Node& n, const std::vector<const Tensor*>&, const Tensor& expected, const Tensor& got) {
    int shown = 0;
    for (int64_t i = 0; i < expected.elements() && shown < 8; ++i) {
      // A mean divides a sum in f32, which may overflow where the oracle's does not.
      const double sum = round_to(DType::f32, pairs[0].at(i) + pairs[1].at(i));
      if (same_element(expected, got, i) || (n.op->name == "reduce_mean" && std::isinf(sum))) continue;
      ++shown;
      ADD_FAILURE() << n.op->name << " of " << pairs[0].at(i) << " and " << pairs[1].at(i) << ": expected "
                    << expected.at(i) << ", kernel " << got.at(i);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Edges, ::testing::ValuesIn(all_dtypes()),
                         [](const auto& info) { return ir::to_string(info.param); });

}  // namespace
}  // namespace heddle::testing
