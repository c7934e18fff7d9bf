#include "ir/evaluate/tensor_bytes.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "ir/check.h"

namespace heddle::ir {
namespace {

// A 16-bit float with this many exponent bits; the rest but the sign are fraction.
double decode_narrow(uint16_t bits, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 2 * bias + 1) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

// `value` is representable.
uint16_t encode_narrow(double value, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int infinity = (2 * bias + 1) << fraction_bits;
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return static_cast<uint16_t>(infinity | 1 << (fraction_bits - 1));
  if (std::isinf(value)) return static_cast<uint16_t>(sign | infinity);
  if (magnitude < std::ldexp(1, 1 - bias))  // subnormal or zero
    return static_cast<uint16_t>(sign | static_cast<int>(std::ldexp(magnitude, bias - 1 + fraction_bits)));
  const int exponent = std::ilogb(magnitude);
  const int fraction = static_cast<int>(std::ldexp(magnitude, fraction_bits - exponent)) - (1 << fraction_bits);
  return static_cast<uint16_t>(sign | (exponent + bias) << fraction_bits | fraction);
}

constexpr int kHalfExponent = 5;
constexpr int kBfloatExponent = 8;

template <class T>
T read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void write(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

double read_real(DType dtype, const std::byte* from) {
  switch (dtype) {
    case DType::f64: return read<double>(from);
    case DType::f32: return read<float>(from);
    case DType::f16: return decode_narrow(read<uint16_t>(from), kHalfExponent);
    default: return decode_narrow(read<uint16_t>(from), kBfloatExponent);
  }
}

void write_real(DType dtype, std::byte* to, double value) {
  switch (dtype) {
    case DType::f64: return write(to, value);
    case DType::f32: return write(to, static_cast<float>(value));
    case DType::f16: return write(to, encode_narrow(value, kHalfExponent));
    default: return write(to, encode_narrow(value, kBfloatExponent));
  }
}

}  // namespace

Tensor from_bytes(const Type& type, std::span<const std::byte> bytes) {
  HEDDLE_CHECK(static_cast<int64_t>(bytes.size()) == type.bytes(), "a tensor's bytes have its size");
  Tensor t(type);
  const auto width = static_cast<size_t>(bits(type.dtype) / 8);
  for (size_t i = 0; i < t.real.size(); ++i) t.real[i] = read_real(type.dtype, bytes.data() + i * width);
  for (size_t i = 0; i < t.integer.size(); ++i) {
    uint64_t value = 0;
    std::memcpy(&value, bytes.data() + i * width, width);
    t.integer[i] = type.dtype == DType::boolean ? value != 0 : wrap_to(type.dtype, std::bit_cast<int64_t>(value));
  }
  return t;
}

std::vector<std::byte> to_bytes(const Tensor& tensor) {
  const auto width = static_cast<size_t>(bits(tensor.type.dtype) / 8);
  std::vector<std::byte> bytes(static_cast<size_t>(tensor.type.bytes()));
  for (size_t i = 0; i < tensor.real.size(); ++i)
    write_real(tensor.type.dtype, bytes.data() + i * width, round_to(tensor.type.dtype, tensor.real[i]));
  for (size_t i = 0; i < tensor.integer.size(); ++i) std::memcpy(bytes.data() + i * width, &tensor.integer[i], width);
  return bytes;
}

}  // namespace heddle::ir
