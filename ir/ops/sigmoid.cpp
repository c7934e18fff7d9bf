// sigmoid, log_sigmoid, hard_sigmoid.
#include <cmath>

#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

const RegisterOp sigmoid(unary_op(
    "sigmoid", "1 / (1 + exp(-x))", "T(1) / (T(1) + hd::exp(-x))",
    [](double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); },
    [](const Expr&, const Expr& y, const Expr& dy) { return dy * (y * (1.0 - y)); }, samples_between(1, -3, 3), 12));

const RegisterOp log_sigmoid(unary_op(
    "log_sigmoid", "log(sigmoid(x)), finite for every finite x", "hd::min(x, T(0)) - hd::log1p(hd::exp(-hd::abs(x)))",
    [](double x) { return x >= 0 ? -std::log1p(std::exp(-x)) : x - std::log1p(std::exp(x)); },
    [](const Expr& x, const Expr&, const Expr& dy) { return dy * apply("sigmoid", -x); }, samples_between(1, -3, 3),
    24));

const RegisterOp hard_sigmoid(unary_op(
    "hard_sigmoid", "min(max(x / 6 + 1 / 2, 0), 1), as in PyTorch",
    "hd::min(hd::max(x * T(0.16666666666666666) + T(0.5), T(0)), T(1))",
    [](double x) {
      if (x <= -3) return 0.0;
      return x >= 3 ? 1.0 : (x + 3) / 6;
    },
    [](const Expr&, const Expr& y, const Expr& dy) {
      const Expr inside = dy * (1.0 / 6), below_one = select(apply("lt", y, 1), inside, 0);
      return select(apply("gt", y, 0), below_one, 0);
    },
    samples_around(1, -2.9, 2.9, 3.1, 5), 4));

}  // namespace
}  // namespace heddle::ir
