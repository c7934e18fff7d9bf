#include "runtime/data/batch.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "ir/check.h"
#include "runtime/data/convert.h"

namespace heddle::runtime::data {
namespace {

// `values` hold one number or one per element of the last axis, whose size divides n.
template <class T, class F>
void with_each(T* row, int64_t n, const std::vector<double>& values, F f) {
  const auto period = static_cast<int64_t>(values.size());
  if (period == 1) {
    const T v = static_cast<T>(values[0]);
    for (int64_t i = 0; i < n; ++i) row[i] = f(row[i], v);
    return;
  }
  for (int64_t i = 0; i < n; i += period)
    for (int64_t j = 0; j < period; ++j) row[i + j] = f(row[i + j], static_cast<T>(values[static_cast<size_t>(j)]));
}

template <class T>
void apply(const Map& map, T* row, int64_t n) {
  if (!map.scale.empty()) with_each(row, n, map.scale, [](T x, T v) { return x * v; });
  if (!map.shift.empty()) with_each(row, n, map.shift, [](T x, T v) { return x + v; });
}

template <class Source, class Target>
void gather_rows(const Column& column, std::span<const uint32_t> rows, std::span<const Map> maps, Target* to) {
  const int64_t n = column.row_elements();
  const auto* from = reinterpret_cast<const Source*>(column.bytes.data());
  // The usual case, pixels times a number, in one pass.
  const bool scaled =
      std::is_same_v<Target, float> && maps.size() == 1 && maps[0].scale.size() == 1 && maps[0].shift.empty();
  for (uint32_t row : rows) {
    const Source* source = from + static_cast<int64_t>(row) * n;
    if constexpr (std::is_same_v<Target, float>)
      convert_scaled(source, to, n, scaled ? static_cast<float>(maps[0].scale[0]) : 1.0F);
    else
      for (int64_t i = 0; i < n; ++i) to[i] = static_cast<Target>(source[i]);
    if constexpr (std::is_floating_point_v<Target>)
      for (const Map& map : maps.subspan(scaled ? 1 : 0)) apply(map, to, n);
    to += n;
  }
}

template <class Source, class Target>
void gather_one_hot(const Column& column, std::span<const uint32_t> rows, int64_t classes, Target* to) {
  const auto* from = reinterpret_cast<const Source*>(column.bytes.data());
  for (uint32_t row : rows) {
    std::fill(to, to + classes, Target{0});
    to[static_cast<int64_t>(from[row])] = Target{1};
    to += classes;
  }
}

}  // namespace

Gather::Gather(const Column& column, std::string dtype, std::vector<int64_t> dims, std::vector<Map> maps)
    : column_(&column), dtype_(std::move(dtype)), dims_(std::move(dims)), maps_(std::move(maps)) {
  const std::optional<ElementType> type = element_type(dtype_);
  HEDDLE_CHECK(type.has_value(), "reading a table refuses types that no reader fills");
  check_maps();
  int64_t elements = 1;
  for (int64_t d : dims_) elements *= d;
  HEDDLE_CHECK(elements == (one_hot_ ? dims_[0] : column.row_elements()),
               "reading a table checks the dims of its rows");
  row_bytes_ = elements * size_of(*type);
}

void Gather::check_maps() {
  const int64_t last = dims_.empty() ? 1 : dims_.back();
  const auto fits = [&](const std::vector<double>& v) {
    return v.size() <= 1 || static_cast<int64_t>(v.size()) == last;
  };
  for (const Map& map : maps_) {
    if (map.op == "one_hot") {
      one_hot_ = true;
      if (maps_.size() != 1) throw UserError(map.where, "one_hot stands alone among the maps of an input");
      if (dims_.size() != 1 || dims_[0] != map.classes)
        throw UserError(map.where, fmt::format("one_hot gives rows of [{}], input '{}' takes other rows", map.classes,
                                               column_->input));
    } else if (map.op == "cast") {
      if (map.dtype != dtype_)
        throw UserError(map.where, fmt::format("cast to {}, but input '{}' is {}", map.dtype, column_->input, dtype_));
    } else if (map.op != "affine") {
      throw UserError(map.where, fmt::format("unknown map '{}'", map.op));
    } else if (dtype_ != "f32" && dtype_ != "f64") {
      throw UserError(map.where,
                      fmt::format("input '{}' is {}, a map of it expects a floating type", column_->input, dtype_));
    } else if (!fits(map.scale) || !fits(map.shift)) {
      throw UserError(map.where,
                      fmt::format("expected one number, or one for each of the {} elements of the last axis", last));
    }
  }
}

void Gather::operator()(std::span<const uint32_t> rows, void* to) const {
  visit(column_->type, [&](auto source) {
    visit(*element_type(dtype_), [&](auto target) {
      using Source = decltype(source);
      using Target = decltype(target);
      if constexpr (std::is_integral_v<Source>) {
        if (one_hot_) return gather_one_hot<Source>(*column_, rows, dims_[0], static_cast<Target*>(to));
      }
      // Floating rows feed only floating inputs: reading the table refuses the rest.
      if constexpr (std::is_integral_v<Source> || std::is_floating_point_v<Target>)
        gather_rows<Source>(*column_, rows, maps_, static_cast<Target*>(to));
    });
  });
}

}  // namespace heddle::runtime::data
