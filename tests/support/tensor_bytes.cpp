#include "tests/support/tensor_bytes.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace heddle::testing {
namespace {

using ir::DType;

double half_to_double(uint16_t h) {
  const int exponent = (h >> 10) & 31, fraction = h & 1023;
  const double infinity = std::numeric_limits<double>::infinity();
  double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) magnitude = fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : infinity;
  return (h & 0x8000) != 0 ? -magnitude : magnitude;
}

// The value has been rounded to f16 already, so that every step here is exact.
uint16_t double_to_half(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::abs(value);
  if (std::isnan(value)) return 0x7e00;
  if (std::isinf(value)) return sign | 0x7c00;
  if (magnitude < std::ldexp(1, -14)) return static_cast<uint16_t>(sign | static_cast<int>(std::ldexp(magnitude, 24)));
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent);  // in [0.5, 1)
  return static_cast<uint16_t>(sign | ((exponent + 14) << 10) | (static_cast<int>(std::ldexp(fraction, 11)) - 1024));
}

template <class T>
void store(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}
template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void store_element(DType dtype, const ir::Tensor& t, int64_t i, std::byte* at) {
  const auto integer = [&] { return t.integer[static_cast<size_t>(i)]; };
  switch (dtype) {
    case DType::f64: return store(at, t.at(i));
    case DType::f32: return store(at, static_cast<float>(t.at(i)));
    case DType::f16: return store(at, double_to_half(ir::round_to(DType::f16, t.at(i))));
    case DType::bf16: {
      const auto f = static_cast<float>(ir::round_to(DType::bf16, t.at(i)));
      uint32_t word = 0;
      std::memcpy(&word, &f, sizeof word);
      return store(at, static_cast<uint16_t>(word >> 16));
    }
    case DType::i64:
    case DType::u64: return store(at, integer());
    case DType::i32:
    case DType::u32: return store(at, static_cast<int32_t>(integer()));
    case DType::i16:
    case DType::u16: return store(at, static_cast<int16_t>(integer()));
    case DType::i8:
    case DType::u8:
    case DType::boolean: return store(at, static_cast<int8_t>(integer()));
  }
}

double load_real(DType dtype, const std::byte* at) {
  if (dtype == DType::f64) return load<double>(at);
  if (dtype == DType::f32) return load<float>(at);
  if (dtype == DType::f16) return half_to_double(load<uint16_t>(at));
  const uint32_t word = static_cast<uint32_t>(load<uint16_t>(at)) << 16;
  float f = 0;
  std::memcpy(&f, &word, sizeof f);
  return f;
}

int64_t load_integer(DType dtype, const std::byte* at) {
  switch (dtype) {
    case DType::i32: return load<int32_t>(at);
    case DType::u32: return load<uint32_t>(at);
    case DType::i16: return load<int16_t>(at);
    case DType::u16: return load<uint16_t>(at);
    case DType::i8: return load<int8_t>(at);
    case DType::u8:
    case DType::boolean: return load<uint8_t>(at);
    default: return load<int64_t>(at);
  }
}

}  // namespace

std::vector<std::byte> to_bytes(const ir::Tensor& t) {
  const auto width = static_cast<size_t>(ir::bits(t.type.dtype) / 8);
  std::vector<std::byte> bytes(static_cast<size_t>(t.elements()) * width);
  for (int64_t i = 0; i < t.elements(); ++i)
    store_element(t.type.dtype, t, i, bytes.data() + static_cast<size_t>(i) * width);
  return bytes;
}

ir::Tensor from_bytes(const ir::Type& type, const std::vector<std::byte>& bytes) {
  ir::Tensor t(type);
  const auto width = static_cast<size_t>(ir::bits(type.dtype) / 8);
  for (size_t i = 0; i < static_cast<size_t>(t.elements()); ++i) {
    const std::byte* at = bytes.data() + i * width;
    if (t.floating())
      t.real[i] = load_real(type.dtype, at);
    else
      t.integer[i] = load_integer(type.dtype, at);
  }
  return t;
}

}  // namespace heddle::testing
