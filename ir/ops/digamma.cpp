// digamma, the gradient of lgamma.
#include <cmath>
#include <limits>

#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

// Of x > 0, in long double: steps up to where the asymptotic series (Abramowitz and Stegun 1964,
// 6.3.18) has all digits.
long double of_positive(long double x) {
  long double below = 0;
  while (x < 25) {
    below += 1 / x;
    x += 1;
  }
  const long double z = 1 / (x * x);
  const long double series =
      z * (1.0L / 12 - z * (1.0L / 120 - z * (1.0L / 252 - z * (1.0L / 240 - z * (1.0L / 132 - z * 691 / 32760)))));
  return std::log(x) - 1 / (2 * x) - series - below;
}

// Poles with a sign of their own at the two zeros, without one at the negative integers.
double evaluate_digamma(double x) {
  if (x == 0) return -std::copysign(std::numeric_limits<double>::infinity(), x);
  if (!(x < 0)) return std::isinf(x) ? x : static_cast<double>(of_positive(x));
  if (std::isinf(x) || x == std::floor(x)) return std::nan("");
  constexpr long double kPi = 3.141592653589793238462643383279502884L;
  const long double exact = x, distance = exact - std::round(exact);
  return static_cast<double>(of_positive(1 - exact) - kPi * std::cos(kPi * distance) / std::sin(kPi * distance));
}

const RegisterOp digamma(unary_op(
    "digamma",
    "the derivative of lgamma; -inf at 0, inf at -0, nan at negative integers (Abramowitz and Stegun 1964, 6.3)",
    "hd::digamma(x)", evaluate_digamma,
    [](const Expr& x, const Expr&, const Expr& dy) { return dy * apply("trigamma", x); }, samples_between(1, 0.3, 4),
    90));

}  // namespace
}  // namespace heddle::ir
