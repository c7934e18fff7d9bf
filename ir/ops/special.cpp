// erfc, erf_inv, lgamma.
#include <cmath>
#include <limits>

#include "ir/mixed_precision.h"
#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// By bisection: erf and erfc rise and fall. Doubles of one sign are ordered as their patterns.
double inverse_error_function(double x) {
  if (!(std::abs(x) < 1)) return std::abs(x) == 1 ? x * kInfinity : std::nan("");
  if (x == 0) return x;
  const double target = std::abs(x), rest = 1 - target;
  double low = 0, high = 6;  // erfc(6) is below the distance of the largest double below 1
  for (int i = 0; i < 2000; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high) break;
    const bool below = target < 0.5 ? std::erf(middle) < target : std::erfc(middle) > rest;
    (below ? low : high) = middle;
  }
  return std::copysign(high, x);
}

const RegisterOp erfc_op(unary_op(
    "erfc", "1 - erf(x), accurate where it is small", "hd::erfc(x)", [](double x) { return std::erfc(x); },
    [](const Expr& x, const Expr&, const Expr& dy) {
      return dy * (-1.1283791670955126 * apply("exp", -(x * x)));  // 2 / sqrt(pi)
    },
    samples_between(1, -2, 2), 30));

const RegisterOp erf_inv_op(unary_op(
    "erf_inv", "the inverse of erf; nan beyond [-1, 1]", "hd::erf_inv(x)", inverse_error_function,
    [](const Expr&, const Expr& y, const Expr& dy) {
      return dy * (0.88622692545275801 * apply("exp", y * y));  // sqrt(pi) / 2
    },
    samples_between(1, -0.8, 0.8), 60));

const RegisterOp lgamma_op(unary_op(
    "lgamma", "the logarithm of the absolute value of the gamma function; inf at 0 and at negative integers",
    "hd::lgamma(x)", [](double x) { return std::lgamma(x); },
    [](const Expr& x, const Expr&, const Expr& dy) { return dy * apply("digamma", x); }, samples_between(1, 0.3, 4),
    80));

const StatesMixedPrecision steep({"erf_inv"}, MixedRule::wide);

}  // namespace
}  // namespace heddle::ir
