// The rules of integer arithmetic and of conversions. The oracles compute with these functions; kernel text computes
// with the functions of the same names in codegen/device/3_math.cuh.
//
// - Integers have two's complement and wrap: a result is taken modulo 2^bits. No operation traps or is undefined.
// - Division truncates. A quotient by 0 has ones in every bit, and the remainder is the dividend. The most negative
//   integer divided by -1 is itself, with remainder 0.
// - Integer to integer wraps. Integer to floating rounds once, half to even.
// - Floating to integer truncates toward zero and saturates: a value beyond the limits becomes the nearest limit, and
// NaN
//   becomes 0. Floating to floating rounds once, half to even; a value that is too large becomes an infinity.
// - To bool, everything but 0 is true, NaN included.
//
// An int64_t holds an element of any integer dtype; for u64 it holds the bit pattern.
#pragma once
#include "ir/evaluate/tensor.h"

namespace heddle::ir {

// Arithmetic on 64-bit patterns, which wraps instead of overflowing.
inline uint64_t pattern(int64_t value) { return static_cast<uint64_t>(value); }
inline int64_t wrapping(uint64_t value) { return static_cast<int64_t>(value); }

// a < b as values of the dtype.
inline bool integer_less(DType dtype, int64_t a, int64_t b) {
  return dtype == DType::u64 ? pattern(a) < pattern(b) : a < b;
}
int64_t lowest_integer(DType dtype);
int64_t largest_integer(DType dtype);

int64_t saturated(double value, DType to);  // floating to integer
// Integer to floating. The result is a double that rounds to `to` as the integer itself would.
double real_of(int64_t value, DType from, DType to);

}  // namespace heddle::ir
