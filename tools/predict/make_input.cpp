#include "tools/predict/make_input.h"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "ir/check.h"

namespace heddle::tools {
namespace {

using runtime::data::Column;

template <class T>
T load(const std::byte* from, size_t i) {
  T value;
  std::memcpy(&value, from + i * sizeof(T), sizeof(T));
  return value;
}

template <class To>
To mapped(To x, const PredictInput& input, size_t element, size_t last_axis) {
  for (const frontend::DataMap& map : input.maps) {
    const auto number = [&](const std::vector<double>& v) {
      return static_cast<To>(v.size() == 1 ? v[0] : v[element % last_axis]);
    };
    if (!map.scale.empty()) x = x * number(map.scale);
    if (!map.shift.empty()) x = x + number(map.shift);
  }
  return x;
}

template <class From, class To>
std::optional<NotFiniteRow> fill(const PredictInput& input, const std::byte* from, int64_t rows, std::byte* to) {
  const std::vector<int64_t>& dims = input.request.dims;
  size_t elements = 1;
  for (const int64_t d : dims) elements *= static_cast<size_t>(d);
  const size_t last = dims.empty() ? 1 : static_cast<size_t>(dims.back());
  const size_t depth = input.request.one_hot ? last : 1;
  for (size_t i = 0; i < static_cast<size_t>(rows) * elements; ++i) {
    const From stored = load<From>(from, i / depth);
    To x = static_cast<To>(stored);
    if (input.request.one_hot) x = static_cast<size_t>(stored) == i % depth ? To{1} : To{0};
    if constexpr (std::is_floating_point_v<To>) {
      x = mapped(x, input, i % elements, last);
      if (!std::isfinite(x)) return NotFiniteRow{static_cast<int64_t>(i / elements), static_cast<double>(x)};
    }
    std::memcpy(to + i * sizeof(To), &x, sizeof(To));
  }
  return std::nullopt;
}

}  // namespace

std::optional<NotFiniteRow> make_input(const PredictInput& input, const Column& column, int64_t rows,
                                       std::span<std::byte> to) {
  HEDDLE_CHECK(std::ssize(column.bytes) >= rows * column.row_bytes(), "a column holds its rows");
  return runtime::data::visit(column.type, [&](auto from) {
    return runtime::data::visit(*runtime::data::element_type(input.request.dtype), [&](auto zero) {
      using From = decltype(from);
      using To = decltype(zero);
      std::optional<NotFiniteRow> fault;
      if constexpr (std::is_floating_point_v<To> || std::is_integral_v<From>)
        fault = fill<From, To>(input, column.bytes.data(), rows, to.data());
      else
        HEDDLE_CHECK(false, "what is floating has been cut to integers");
      return fault;
    });
  });
}

}  // namespace heddle::tools
