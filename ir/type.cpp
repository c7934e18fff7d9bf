#include "ir/type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace heddle::ir {
namespace {

struct DTypeFacts {
  DType dtype;
  const char* name;
  int64_t bits;
};
constexpr std::array<DTypeFacts, 13> kFacts = {{{DType::f64, "f64", 64},
                                                {DType::f32, "f32", 32},
                                                {DType::f16, "f16", 16},
                                                {DType::bf16, "bf16", 16},
                                                {DType::i64, "i64", 64},
                                                {DType::i32, "i32", 32},
                                                {DType::i16, "i16", 16},
                                                {DType::i8, "i8", 8},
                                                {DType::u64, "u64", 64},
                                                {DType::u32, "u32", 32},
                                                {DType::u16, "u16", 16},
                                                {DType::u8, "u8", 8},
                                                {DType::boolean, "bool", 8}}};

const DTypeFacts& facts(DType dtype) { return kFacts[static_cast<size_t>(dtype)]; }

}  // namespace

int64_t bits(DType dtype) { return facts(dtype).bits; }

bool is_floating(DType d) { return d == DType::f64 || d == DType::f32 || d == DType::f16 || d == DType::bf16; }

bool is_integer(DType d) { return !is_floating(d) && d != DType::boolean; }

bool is_signed(DType d) {
  return is_floating(d) || d == DType::i64 || d == DType::i32 || d == DType::i16 || d == DType::i8;
}

bool holds(DType d, int64_t n) {
  const int64_t width = bits(d) - (is_signed(d) ? 1 : 0);
  return width >= 63 || n < int64_t{1} << width;
}

std::string to_string(DType dtype) { return facts(dtype).name; }

std::optional<DType> parse_dtype(std::string_view text) {
  for (const DTypeFacts& f : kFacts)
    if (text == f.name) return f.dtype;
  return std::nullopt;
}

const std::vector<DType>& all_dtypes() {
  static const std::vector<DType> all = [] {
    std::vector<DType> list;
    list.reserve(std::size(kFacts));
    for (const DTypeFacts& f : kFacts) list.push_back(f.dtype);
    return list;
  }();
  return all;
}

int64_t product(const Dims& dims) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return n;
}

Dims row_major_strides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

bool is_layout(const Layout& layout, int64_t rank) {
  if (layout.empty()) return true;
  Dims sorted = layout;
  std::sort(sorted.begin(), sorted.end());
  Dims axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return sorted == axes;
}

Layout inverse(const Layout& layout) {
  Layout back(layout.size());
  for (size_t k = 0; k < layout.size(); ++k) back[static_cast<size_t>(layout[k])] = static_cast<int64_t>(k);
  return back;
}

Dims memory_dims(const Dims& logical, const Layout& layout) {
  if (layout.empty()) return logical;
  Dims dims;
  for (const int64_t axis : layout) dims.push_back(logical[static_cast<size_t>(axis)]);
  return dims;
}

Dims logical_dims(const Dims& dims, const Layout& layout) { return memory_dims(dims, inverse(layout)); }

int64_t Type::elements() const { return product(dims); }

int64_t Type::bytes() const { return (elements() * bits(dtype) + 7) / 8; }

std::string to_string(const Dims& dims) { return fmt::format("[{}]", fmt::join(dims, ",")); }

std::string to_string(const Type& type) { return to_string(type.dtype) + to_string(type.dims); }

}  // namespace heddle::ir
