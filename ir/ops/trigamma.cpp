// trigamma, the gradient of digamma.
#include <cmath>

#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

// Of x > 0, in long double: steps up to where the asymptotic series (Abramowitz and Stegun 1964,
// 6.4.12) has all digits.
long double of_positive(long double x) {
  long double below = 0;
  while (x < 25) {
    below += 1 / (x * x);
    x += 1;
  }
  const long double z = 1 / (x * x);
  const long double series =
      z * (1.0L / 6 - z * (1.0L / 30 - z * (1.0L / 42 - z * (1.0L / 30 - z * (5.0L / 66 - z * 691 / 2730)))));
  return below + (1 + 1 / (2 * x) + series) / x;
}

double evaluate_trigamma(double x) {
  if (!(x <= 0)) return static_cast<double>(of_positive(x));
  if (std::isinf(x)) return std::nan("");
  constexpr long double kPi = 3.141592653589793238462643383279502884L;
  const long double exact = x, distance = exact - std::round(exact), sine = std::sin(kPi * distance);
  return static_cast<double>(kPi / sine * (kPi / sine) - of_positive(1 - exact));
}

OpDef trigamma_def() {
  OpDef def = unary_op("trigamma",
                       "the derivative of digamma; inf at 0 and at negative integers (Abramowitz and Stegun 1964, 6.4)",
                       "hd::trigamma(x)", evaluate_trigamma, nullptr, samples_between(1, 0.3, 4), 90);
  def.grad = {};
  def.no_gradient = "it is there for the gradient of digamma; its own, the third derivative of lgamma, is no operator";
  return def;
}
const RegisterOp trigamma(trigamma_def());

}  // namespace
}  // namespace heddle::ir
