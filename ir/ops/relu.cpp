// relu, relu6, leaky_relu: linear on both sides of a kink. The gradient at the kink is that of the left side, as in
// PyTorch.
#include <cmath>

#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

const RegisterOp relu(unary_op(
    "relu", "max(x, 0); nan stays nan", "hd::max(x, T(0))", [](double x) { return x <= 0 ? 0 : x; },
    [](const Expr&, const Expr& y, const Expr& dy) { return select(apply("gt", y, 0), dy, 0); },
    samples_around(1, 0.1, 2, -2, -0.1), 1, {.at_least = 0}));

const RegisterOp relu6(unary_op(
    "relu6", "min(max(x, 0), 6); nan stays nan", "hd::min(hd::max(x, T(0)), T(6))",
    [](double x) {
      if (x <= 0) return 0.0;
      return x > 6 ? 6.0 : x;
    },
    [](const Expr&, const Expr& y, const Expr& dy) {
      const Expr below_six = select(apply("lt", y, 6), dy, 0);
      return select(apply("gt", y, 0), below_six, 0);
    },
    samples_around(1, 0.1, 5.9, 6.1, 9), 2));

Grads leaky_gradient(Builder& b, const Node& n, const Values& dy) {
  const Expr x{b, n.operands[0]}, g{b, dy[0]};
  const double slope = std::get<double>(attribute(*n.op, n.attrs, "slope"));
  const Expr below = g * slope;
  return {select(apply("gt", x, 0), g, below)};
}

const RegisterOp leaky_relu(
    {.name = "leaky_relu",
     .doc = "x above 0, slope * x elsewhere",
     .operands = {"x"},
     .attrs = {{.name = "slope", .type = KeyType::real, .doc = "derivative below 0", .fallback = 0.01, .scalar = true}},
     .dtypes = kFloating,
     .kind = Elementwise{"x > T(0) ? x : T(slope) * x"},
     .infer = same_type,
     .eval = eval_real([](std::span<const double> x, const Signature& s) {
       return x[0] > 0 ? x[0] : s.real("slope") * x[0];
     }),
     .grad = leaky_gradient,
     .flops = 2,
     .samples = samples_around(1, 0.1, 2, -2, -0.1)});

}  // namespace
}  // namespace heddle::ir
