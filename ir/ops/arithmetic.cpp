// add, sub, mul, max, min: floating and integer values; integers wrap around.
#include <cmath>

#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

using Reals = std::span<const double>;
using Integers = std::span<const int64_t>;

double nan_or(double a, double b, double other) { return std::isnan(a) || std::isnan(b) ? std::nan("") : other; }

// Passes dy to the operand that `wins`, half to each of equals, as PyTorch and JAX do.
Grads to_winner(const Expr& a, const Expr& b, const Expr& dy, std::string_view wins) {
  const Expr tie = apply("eq", a, b), half = dy * 0.5, shared = select(tie, half, 0);
  const Expr a_wins = apply(wins, a, b), b_wins = apply(wins, b, a);
  return {select(a_wins, dy, shared), select(b_wins, dy, shared)};
}

const Traits kSum = {.commutative = true, .arithmetic = Arithmetic::sum};
const Traits kDifference = {.arithmetic = Arithmetic::difference};
const Traits kProduct = {.commutative = true, .arithmetic = Arithmetic::product};

const RegisterOp add(binary_op(
    "add", "a + b; integers wrap", "hd::add(a, b)",
    eval_either([](Reals x, const Signature&) { return x[0] + x[1]; },
                [](Integers x, const Signature&) { return wrapping(pattern(x[0]) + pattern(x[1])); }),
    [](const Expr&, const Expr&, const Expr&, const Expr& dy) -> Grads {
      return {dy, dy};
    },
    samples_between(2, -2, 2), kSum));

const RegisterOp sub(binary_op(
    "sub", "a - b; integers wrap", "hd::sub(a, b)",
    eval_either([](Reals x, const Signature&) { return x[0] - x[1]; },
                [](Integers x, const Signature&) { return wrapping(pattern(x[0]) - pattern(x[1])); }),
    [](const Expr&, const Expr&, const Expr&, const Expr& dy) -> Grads {
      return {dy, -dy};
    },
    samples_between(2, -2, 2), kDifference));

const RegisterOp mul(binary_op(
    "mul", "a * b; integers wrap", "hd::mul(a, b)",
    eval_either([](Reals x, const Signature&) { return x[0] * x[1]; },
                [](Integers x, const Signature&) { return wrapping(pattern(x[0]) * pattern(x[1])); }),
    [](const Expr& a, const Expr& b, const Expr&, const Expr& dy) -> Grads {
      return {dy * b, dy * a};
    },
    samples_between(2, -2, 2), kProduct));

const RegisterOp max(binary_op(
    "max", "the larger of a and b; nan where either is nan. Equal operands share the gradient.", "hd::max(a, b)",
    eval_either([](Reals x, const Signature&) { return nan_or(x[0], x[1], x[0] > x[1] ? x[0] : x[1]); },
                [](Integers x, const Signature& s) { return integer_less(x[0], x[1], s) ? x[1] : x[0]; }),
    [](const Expr& a, const Expr& b, const Expr&, const Expr& dy) { return to_winner(a, b, dy, "gt"); },
    samples_between(2, -2, 2)));

const RegisterOp min(binary_op(
    "min", "the smaller of a and b; nan where either is nan. Equal operands share the gradient.", "hd::min(a, b)",
    eval_either([](Reals x, const Signature&) { return nan_or(x[0], x[1], x[0] < x[1] ? x[0] : x[1]); },
                [](Integers x, const Signature& s) { return integer_less(x[1], x[0], s) ? x[1] : x[0]; }),
    [](const Expr& a, const Expr& b, const Expr&, const Expr& dy) { return to_winner(a, b, dy, "lt"); },
    samples_between(2, -2, 2)));

}  // namespace
}  // namespace heddle::ir
