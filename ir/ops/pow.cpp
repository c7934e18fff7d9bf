#include <cmath>

#include "ir/mixed_precision.h"
#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

// Squaring and multiplying, in wrapping arithmetic. A negative exponent gives the truncated reciprocal: 1, -1 or 0.
int64_t integer_power(std::span<const int64_t> x, const Signature& s) {
  if (x[1] < 0 && !is_unsigned64(s)) {
    if (x[0] == 1) return 1;
    if (x[0] == -1) return x[1] % 2 == 0 ? 1 : -1;
    return 0;
  }
  uint64_t result = 1, base = static_cast<uint64_t>(x[0]);
  for (auto e = static_cast<uint64_t>(x[1]); e != 0; e >>= 1) {
    if (e & 1) result *= base;
    base *= base;
  }
  return wrapping(result);
}

Grads gradient(const Expr& a, const Expr& b, const Expr& y, const Expr& dy) {
  // Where b is 0 the power is constant in a; where a is 0 it is constant in b > 0, though log(a) is infinite.
  const Expr lower = apply("pow", a, b - 1.0), slope = dy * b * lower;
  const Expr constant = apply("eq", b, 0), zero = apply("eq", a, 0);
  const Expr logarithm = apply("log", select(zero, 1, a)), weight = dy * y;
  return {select(constant, 0, slope), weight * logarithm};
}

const RegisterOp pow(binary_op(
    "pow",
    "a to the power b, with IEEE 754's edge cases: pow(x, 0) = 1 and pow(1, x) = 1 even for nan, a negative a needs an "
    "integral b. Integers wrap; a negative exponent gives the reciprocal truncated toward zero, and 0 for a = 0.",
    "hd::pow(a, b)",
    eval_either([](std::span<const double> x, const Signature&) { return std::pow(x[0], x[1]); }, integer_power),
    gradient, samples_between(2, 0.3, 2)));

const StatesMixedPrecision pow_in_f32({"pow"}, MixedRule::wide);

}  // namespace
}  // namespace heddle::ir
