// neg, abs, sign, square: on floating values and integers.
#include <cmath>

#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

using Reals = std::span<const double>;
using Integers = std::span<const int64_t>;

OpDef op(const std::string& name, const std::string& doc, const std::string& expr, Eval eval, Gradient1 grad,
         std::vector<Sample> samples) {
  return {.name = name,
          .doc = doc,
          .operands = {"x"},
          .dtypes = kArithmetic,
          .kind = Elementwise{expr},
          .infer = same_type,
          .eval = std::move(eval),
          .grad = gradient_of(grad),
          .samples = std::move(samples)};
}

const RegisterOp neg(op(
    "neg", "-x; integers wrap", "hd::neg(x)",
    eval_either([](Reals x, const Signature&) { return -x[0]; },
                [](Integers x, const Signature&) { return wrapping(0 - pattern(x[0])); }),
    [](const Expr&, const Expr&, const Expr& dy) { return -dy; }, samples_between(1, -2, 2)));

const RegisterOp abs(op(
    "abs", "the magnitude of x; the most negative integer stays as it is. The gradient at 0 is 0.", "hd::abs(x)",
    eval_either([](Reals x, const Signature&) { return std::abs(x[0]); },
                [](Integers x, const Signature& s) {
                  return x[0] < 0 && is_signed(s.operands[0].dtype) ? wrapping(0 - pattern(x[0])) : x[0];
                }),
    [](const Expr& x, const Expr&, const Expr& dy) { return dy * apply("sign", x); },
    samples_around(1, 0.1, 2, -2, -0.1)));

const RegisterOp square(op(
    "square", "x * x; integers wrap", "hd::mul(x, x)",
    eval_either([](Reals x, const Signature&) { return x[0] * x[0]; },
                [](Integers x, const Signature&) { return wrapping(pattern(x[0]) * pattern(x[0])); }),
    [](const Expr& x, const Expr&, const Expr& dy) { return dy * (2.0 * x); }, samples_between(1, -2, 2)));

double sign_of(double x) {
  if (x > 0) return 1;
  return x < 0 ? -1 : x;  // 0 and nan stay
}

const RegisterOp sign({.name = "sign",
                       .doc = "1 above 0, -1 below, 0 at 0; nan stays nan. Its gradient is zero.",
                       .operands = {"x"},
                       .dtypes = kArithmetic,
                       .kind = Elementwise{"hd::sign(x)"},
                       .traits = {.jumps = true},
                       .infer = same_type,
                       .eval = eval_either([](Reals x, const Signature&) { return sign_of(x[0]); },
                                           [](Integers x, const Signature& s) -> int64_t {
                                             if (integer_less(0, x[0], s)) return 1;
                                             return x[0] == 0 ? 0 : -1;
                                           }),
                       .grad = no_flow,
                       .samples = samples_around(1, 0.1, 2, -2, -0.1)});

}  // namespace
}  // namespace heddle::ir
