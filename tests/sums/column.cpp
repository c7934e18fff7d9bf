#include "tests/sums/column.h"

#include <array>
#include <cmath>
#include <cstring>

#include "ir/check.h"
#include "ir/evaluate/tensor_bytes.h"

namespace heddle::testing {
using namespace ir;
namespace {

template <class T>
T read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Every value of a type of 16 bits.
std::vector<double> all_values(DType dtype) {
  std::vector<uint16_t> words(1 << 16);
  for (size_t i = 0; i < words.size(); ++i) words[i] = static_cast<uint16_t>(i);
  return from_bytes({dtype, {1 << 16}}, std::as_bytes(std::span(words))).real;
}

constexpr int64_t kChunk = 1 << 16;

}  // namespace

double Column::at(int64_t i) const {
  static const std::vector<double> halves = all_values(DType::f16), brains = all_values(DType::bf16);
  const std::byte* from = bytes.data() + i * (bits(type.dtype) / 8);
  switch (type.dtype) {
    case DType::f64: return read<double>(from);
    case DType::f32: return static_cast<double>(read<float>(from));
    case DType::f16: return halves[read<uint16_t>(from)];
    case DType::bf16: return brains[read<uint16_t>(from)];
    default: HEDDLE_CHECK(type.dtype == DType::i32, "a column of " + ir::to_string(type.dtype));
  }
  return read<int32_t>(from);
}

ColumnWriter::ColumnWriter(const Type& type) : column_{type, {}}, chunk_({type.dtype, {kChunk}}) {
  column_.bytes.reserve(static_cast<size_t>(type.bytes()));
}

void ColumnWriter::add(double x) {
  if (chunk_.floating())
    chunk_.real[filled_] = round_to(chunk_.type.dtype, x);
  else
    chunk_.integer[filled_] = static_cast<int64_t>(x);
  if (++filled_ == static_cast<size_t>(kChunk)) flush();
}

void ColumnWriter::flush() {
  const std::vector<std::byte> bytes = to_bytes(chunk_);
  const size_t used = filled_ * static_cast<size_t>(bits(chunk_.type.dtype) / 8);
  column_.bytes.insert(column_.bytes.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(used));
  filled_ = 0;
}

Column ColumnWriter::finish() {
  flush();
  return std::move(column_);
}

Column column_of(const Type& type, const std::function<double(int64_t)>& element) {
  ColumnWriter writer(type);
  for (int64_t i = 0; i < type.elements(); ++i) writer.add(element(i));
  return writer.finish();
}

Column indices(const Dims& dims, const std::function<int64_t(int64_t)>& element) {
  return column_of({DType::i32, dims}, [&](int64_t i) { return static_cast<double>(element(i)); });
}

std::string to_string(Kind kind) {
  static const std::array<std::string, kKinds> names = {"constant", "alternating", "one large", "series", "random"};
  return names[static_cast<size_t>(kind)];
}

double epsilon(DType dtype) {
  switch (dtype) {
    case DType::f64: return 0x1p-52;
    case DType::f32: return 0x1p-23;
    case DType::f16: return 0x1p-10;
    default: return 0x1p-7;  // bf16
  }
}

double smallest(DType dtype) {
  switch (dtype) {
    case DType::f64: return 0x1p-1074;
    case DType::f32: return 0x1p-149;
    case DType::f16: return 0x1p-24;
    default: return 0x1p-133;  // bf16
  }
}

// The finalizer of SplitMix64 (Steele, Lea, Flood 2014).
uint64_t mixed(uint64_t a, uint64_t b) {
  uint64_t z = a + 0x9E3779B97F4A7C15u * (b + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

double unit(uint64_t bits) { return std::ldexp(static_cast<double>(bits >> 11), -53); }

Numbers::Numbers(Kind kind, DType dtype, int64_t n, uint64_t seed)
    : kind_(kind), dtype_(dtype), n_(n), seed_(seed), scale_(0.1 + 0.4 * unit(mixed(seed, 0))) {
  constexpr double kMostOfHalves = 2000;
  if (dtype == DType::f16) scale_ *= std::min(1.0, kMostOfHalves / static_cast<double>(n));
}

double Numbers::at(int64_t line, int64_t i) const {
  const uint64_t of_line = mixed(seed_, static_cast<uint64_t>(line));
  const double x = scale_ * (1 + 0.25 * unit(of_line));
  const double large = dtype_ == DType::f16 ? 1000 : dtype_ == DType::bf16 ? 1e4 : 1e6;
  const auto place = static_cast<int64_t>(of_line % static_cast<uint64_t>(n_));
  const auto value = [&] {
    switch (kind_) {
      case Kind::constant: return x;
      case Kind::alternating: return i % 2 == 0 ? x : -x;
      case Kind::one_large: return i == place ? large : x;
      case Kind::series: return x * static_cast<double>(i + 1) / static_cast<double>(n_);
      default: return x * (2 * unit(mixed(of_line, static_cast<uint64_t>(i) + 1)) - 0.75);
    }
  };
  return round_to(dtype_, value());
}

}  // namespace heddle::testing
