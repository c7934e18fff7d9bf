// Exact: a sum as an unevaluated pair of doubles, which is right to about 2^-100 of the sum of its terms' sizes.
//
//   Exact s; s.add(1e16); s.add(1); s.add(-1e16);   ->  s.value() = 1, s.size = 2e16 + 1
//
// Additions leave their rounding error behind (Knuth's two-sum), products theirs (by fma).
#pragma once
#include <cmath>

namespace heddle::testing {

struct Exact {
  double high = 0, low = 0;
  double size = 0;  // the sum of the terms' absolute values

  void add(double x) {
    add_part(x);
    size += std::abs(x);
  }
  void add_product(double a, double b) {
    const double product = a * b;
    add_part(product);
    low += std::fma(a, b, -product);
    size += std::abs(product);
  }
  double value() const { return high + low; }
  // How far x lies from the sum.
  double distance(double x) const { return std::abs((high - x) + low); }
  Exact times(double factor) const { return scaled(factor, 1); }
  Exact over(double divisor) const { return scaled(1, divisor); }

 private:
  void add_part(double x) {
    const double sum = high + x, back = sum - high;
    low += (high - (sum - back)) + (x - back);
    high = sum;
  }
  // In extended precision, of which doubles have half the distance between neighbours 2^10 times over.
  Exact scaled(long double factor, long double divisor) const {
    const long double all = (static_cast<long double>(high) + low) * factor / divisor;
    Exact e;
    e.high = static_cast<double>(all);
    e.low = static_cast<double>(all - e.high);
    e.size = static_cast<double>(size * std::abs(factor / divisor));
    return e;
  }
};

// Of a number that was computed in extended precision.
inline Exact exactly(long double value, double size) {
  const auto high = static_cast<double>(value);
  return {high, static_cast<double>(value - high), size};
}

}  // namespace heddle::testing
