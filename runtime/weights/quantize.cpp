#include "runtime/weights/quantize.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "ir/check.h"
#include "ir/diagnostic.h"
#include "ir/int8.h"
#include "runtime/weights/elements.h"
#include "runtime/weights/half_floats.h"

namespace heddle::runtime {
namespace {

constexpr std::array<std::pair<StoredAs, const char*>, 4> kWords = {
    {{StoredAs::int8, "int8"}, {StoredAs::int4, "int4"}, {StoredAs::f16, "f16"}, {StoredAs::bf16, "bf16"}}};

template <class T>
void add_values(WeightsFile& to, const std::string& name, const std::string& dtype, const std::vector<int64_t>& dims,
                const std::vector<T>& values) {
  const size_t bytes = values.size() * sizeof(T);
  const std::span<std::byte> room = to.add(name, dtype, dims, static_cast<int64_t>(bytes));
  if (bytes > 0) std::memcpy(room.data(), values.data(), bytes);
}

int8_t whole(float value, float scale, float most) {
  return static_cast<int8_t>(std::clamp(std::nearbyint(value / scale), -most, most));
}

int64_t product(std::span<const int64_t> dims) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return n;
}

void add_int8(WeightsFile& to, const WeightsFile& from, const SavedTensor& t, const Quantization& how) {
  constexpr float kMost = ir::kMostOfSigned;
  const std::vector<float> values = floats_of(from, t);
  const auto at = static_cast<size_t>(how.axis);
  const std::span<const int64_t> dims = t.dims;
  const auto outer = static_cast<size_t>(product(dims.first(at))), places = static_cast<size_t>(dims[at]),
             inner = static_cast<size_t>(product(dims.subspan(at + 1)));
  std::vector<float> scales(places);
  std::vector<int8_t> wholes(values.size());
  for (size_t place = 0; place < places; ++place) {
    const auto each = [&](const auto& use) {
      for (size_t o = 0; o < outer; ++o)
        for (size_t i = (o * places + place) * inner, end = i + inner; i < end; ++i) use(i);
    };
    float largest = 0;
    each([&](size_t i) { largest = std::max(largest, std::abs(values[i])); });
    const float scale = scales[place] = ir::scale_for(largest, kMost);
    each([&](size_t i) { wholes[i] = whole(values[i], scale, kMost); });
  }
  std::vector<int64_t> scale_dims(t.dims.size(), 1);
  scale_dims[at] = t.dims[at];
  add_values(to, t.name, "i8", t.dims, wholes);
  add_values(to, t.name + std::string(kScaleSuffix), "f32", scale_dims, scales);
  if (!how.range.empty()) add_values(to, t.name + std::string(kRangeSuffix), "f32", {2}, how.range);
}

void add_int4(WeightsFile& to, const WeightsFile& from, const SavedTensor& t) {
  constexpr float kMost = 7;
  const std::vector<float> values = floats_of(from, t);
  const int64_t rows = t.dims[0], columns = t.dims[1], row_bytes = packed_bytes(columns), groups = groups_of(columns);
  std::vector<float> scales;
  std::vector<uint8_t> bytes(static_cast<size_t>(rows * row_bytes));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t first = 0; first < columns; first += kGroup) {
      const int64_t end = std::min(first + kGroup, columns);
      const std::span<const float> group =
          std::span(values).subspan(static_cast<size_t>(row * columns + first), static_cast<size_t>(end - first));
      float largest = 0;
      for (const float value : group) largest = std::max(largest, std::abs(value));
      const float scale = ir::scale_for(largest, kMost);
      scales.push_back(scale);
      for (int64_t c = first; c < end; ++c) {
        const int bits = whole(group[static_cast<size_t>(c - first)], scale, kMost) & 0xf;
        uint8_t& byte = bytes[static_cast<size_t>(row * row_bytes + c / 2)];
        byte = static_cast<uint8_t>(byte | bits << (c % 2 * 4));
      }
    }
  add_values(to, t.name, "u8", {rows, row_bytes}, bytes);
  add_values(to, t.name + std::string(kScaleSuffix), "f32", {rows, groups}, scales);
  add_values(to, t.name + std::string(kShapeSuffix), "i64", {2}, t.dims);
}

void add_half(WeightsFile& to, const WeightsFile& from, const SavedTensor& t, StoredAs as) {
  const std::vector<float> values = floats_of(from, t);
  std::vector<uint16_t> halves(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const std::optional<uint16_t> half = as == StoredAs::f16 ? to_f16(values[i]) : to_bf16(values[i]);
    if (!half)
      throw UserError(ExitCode::failed,
                      fmt::format("{}: '{}': element {} is {:g}, which {} does not hold", from.name, t.name, i,
                                  values[i], to_string(as)),
                      fmt::format("--type {}, or --keep {} leaves that tensor as it is",
                                  as == StoredAs::f16 ? "bf16" : "int8", t.name));
    halves[i] = *half;
  }
  add_values(to, t.name, to_string(as), t.dims, halves);
}

}  // namespace

std::string to_string(StoredAs type) {
  return std::ranges::find(kWords, type, &std::pair<StoredAs, const char*>::first)->second;
}

std::optional<StoredAs> stored_as(std::string_view word) {
  for (const auto& [type, name] : kWords)
    if (word == name) return type;
  return std::nullopt;
}

void add_quantized(WeightsFile& to, const WeightsFile& from, const SavedTensor& t, const Quantization& how) {
  HEDDLE_CHECK(t.dtype == "f32", "only f32 is quantised");
  switch (how.as) {
    case StoredAs::int8: return add_int8(to, from, t, how);
    case StoredAs::int4: return add_int4(to, from, t);
    case StoredAs::f16:
    case StoredAs::bf16: return add_half(to, from, t, how.as);
  }
}

void mark_quantized(WeightsFile& file, StoredAs type, const std::string& model) {
  file.metadata[kQuantizedMark] = to_string(type);
  file.metadata[kQuantizedVersion] = kQuantizedVersionNow;
  file.metadata[kQuantizedModel] = model;
}

bool is_quantized(const WeightsFile& file) { return file.metadata.contains(kQuantizedMark); }

void unmark_quantized(std::map<std::string, std::string>& metadata) {
  std::erase_if(metadata, [](const auto& entry) { return entry.first.starts_with(kQuantizedMark); });
}

void require_for_training(const WeightsFile& file) {
  if (!is_quantized(file)) return;
  throw UserError(ExitCode::failed, fmt::format("{}: quantised weights, which no training starts from", file.name),
                  "give the weights that heddle quantize has read");
}

}  // namespace heddle::runtime
