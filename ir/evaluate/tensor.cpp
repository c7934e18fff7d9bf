#include "ir/evaluate/tensor.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::ir {
namespace {

// Round half to even to `digits` significand bits, exponents from `least` (below it the spacing stays); infinite above
// `largest`.
double round_significand(double value, int digits, int least, double largest) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), least);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, digits - 1 - exponent)), exponent - digits + 1);
  return std::abs(rounded) > largest ? std::copysign(std::numeric_limits<double>::infinity(), value) : rounded;
}

// Truncates toward zero, then takes the value modulo 2^64.
int64_t to_integer(double value) {
  if (std::isnan(value) || std::isinf(value)) return 0;
  const double whole = std::fmod(std::trunc(value), 0x1p64);
  const auto magnitude = static_cast<uint64_t>(std::abs(whole));
  return static_cast<int64_t>(whole < 0 ? 0 - magnitude : magnitude);
}

}  // namespace

double round_to(DType dtype, double value) {
  switch (dtype) {
    case DType::f32: return static_cast<double>(static_cast<float>(value));
    case DType::f16: return round_significand(value, 11, -14, 65504);
    case DType::bf16: return round_significand(value, 8, -126, 0x1.fep127);
    default: return value;
  }
}

int64_t wrap_to(DType dtype, int64_t value) {
  if (dtype == DType::boolean) return value != 0 ? 1 : 0;
  const int64_t width = bits(dtype);
  if (width == 64) return value;
  const auto shift = static_cast<unsigned>(64 - width);
  const uint64_t high = static_cast<uint64_t>(value) << shift;
  return is_signed(dtype) ? static_cast<int64_t>(high) >> shift : static_cast<int64_t>(high >> shift);
}

Tensor::Tensor(Type t) : type(std::move(t)) {
  const auto count = static_cast<size_t>(type.elements());
  if (floating()) {
    real.resize(count);
  } else {
    integer.resize(count);
  }
}

double Tensor::at(int64_t i) const {
  const auto index = static_cast<size_t>(i);
  if (floating()) return real[index];
  if (type.dtype == DType::u64) return static_cast<double>(static_cast<uint64_t>(integer[index]));
  return static_cast<double>(integer[index]);
}

void Tensor::set(int64_t i, double value) {
  const auto index = static_cast<size_t>(i);
  if (floating()) {
    real[index] = value;
  } else {
    integer[index] = type.dtype == DType::boolean ? int64_t{value != 0} : wrap_to(type.dtype, to_integer(value));
  }
}

void Tensor::copy(int64_t i, const Tensor& from, int64_t j) {
  const auto to = static_cast<size_t>(i), source = static_cast<size_t>(j);
  if (floating() && from.floating()) {
    real[to] = from.real[source];
  } else if (!floating() && !from.floating()) {
    integer[to] = wrap_to(type.dtype, from.integer[source]);
  } else {
    set(i, from.at(j));
  }
}

Tensor rounded(Tensor t) {
  if (t.type.dtype != DType::f64)
    for (double& value : t.real) value = round_to(t.type.dtype, value);
  for (int64_t& value : t.integer) value = wrap_to(t.type.dtype, value);
  return t;
}

}  // namespace heddle::ir
