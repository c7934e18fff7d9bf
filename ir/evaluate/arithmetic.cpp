#include "ir/evaluate/arithmetic.h"

#include <cmath>

namespace heddle::ir {
namespace {

// Of 53 bits or fewer, and on the same side of every number of fewer bits: the bits below the upper
// ones are collected in one ("round to odd"; Boldo and Melquiond 2008, doi 10.1109/TC.2007.70819).
// A double rounded by the usual rule could lie halfway between two floats where the integer does
// not.
uint64_t rounded_to_odd(uint64_t magnitude) {
  constexpr uint64_t kLow = (uint64_t{1} << 11) - 1;
  if (magnitude >> 53 == 0) return magnitude;
  const uint64_t sticky = (magnitude & kLow) != 0 ? kLow + 1 : 0;
  return (magnitude & ~kLow) | sticky;
}

}  // namespace

int64_t lowest_integer(DType dtype) {
  return is_signed(dtype) ? wrapping(~uint64_t{0} << static_cast<unsigned>(bits(dtype) - 1)) : 0;
}

int64_t largest_integer(DType dtype) { return wrap_to(dtype, wrapping(~pattern(lowest_integer(dtype)))); }

int64_t saturated(double value, DType to) {
  if (std::isnan(value)) return 0;
  const auto width = static_cast<int>(bits(to));
  const double limit = std::ldexp(1, is_signed(to) ? width - 1 : width);
  if (value >= limit) return largest_integer(to);
  if (value <= (is_signed(to) ? -limit : 0)) return lowest_integer(to);
  return value >= 0x1p63 ? wrapping(static_cast<uint64_t>(value)) : static_cast<int64_t>(value);
}

double real_of(int64_t value, DType from, DType to) {
  const bool negative = from != DType::u64 && value < 0;
  const uint64_t magnitude = negative ? 0 - pattern(value) : pattern(value);
  const auto real = static_cast<double>(to == DType::f64 ? magnitude : rounded_to_odd(magnitude));
  return negative ? -real : real;
}

}  // namespace heddle::ir
