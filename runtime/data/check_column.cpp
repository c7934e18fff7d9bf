#include "runtime/data/check_column.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace heddle::runtime::data {
namespace {

std::string dims_text(const std::vector<int64_t>& dims) { return fmt::format("[{}]", fmt::join(dims, ",")); }

int64_t product(const std::vector<int64_t>& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

// Whether rows of the file's dims can feed an input of the wanted dims: equal up to trailing axes of size 1, or
// flattened to one axis.
bool fits(std::vector<int64_t> have, const std::vector<int64_t>& want) {
  if (want.size() == 1 && product(have) == want[0]) return true;
  while (have.size() < want.size()) have.push_back(1);
  return have == want;
}

// Whether an element of the type can hold the number. A floating input can hold all class numbers.
bool holds(ElementType type, int64_t v) {
  return visit(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) return true;
    return static_cast<int64_t>(static_cast<T>(v)) == v;
  });
}

}  // namespace

void check_dims(const ColumnRequest& request, const Column& column) {
  const std::vector<int64_t> want = request.dims;
  if (fits(column.dims, want)) return;
  const bool reshaped = product(column.dims) == product(want);
  throw UserError(
      request.where,
      fmt::format("{}: rows are {}, input '{}' takes {}", request.source(), dims_text(column.dims), request.input,
                  dims_text(want)),
      reshaped ? fmt::format("reshape the array, or declare \"shape\": [\"N\",{}]", fmt::join(column.dims, ",")) : "");
}

ElementType filled_type(const ColumnRequest& request) {
  if (const std::optional<ElementType> type = element_type(request.dtype)) return *type;
  throw UserError(
      request.where, fmt::format("input '{}' is {}: readers do not fill that type", request.input, request.dtype),
      fmt::format("declare the input i32 or f32, and make it {0} by a node: {{\"op\": \"cast\", \"dtype\": \"{0}\"}}",
                  request.dtype));
}

void check_type(const ColumnRequest& request, ElementType type) {
  const ElementType want = filled_type(request);
  if ((request.classes > 0 || !is_floating(want)) && is_floating(type) && !request.cuts(type)) {
    throw UserError(
        request.where,
        fmt::format("{}: elements are {}, input '{}' takes integers", request.source(), to_string(type), request.input),
        is_floating(want)
            ? ""
            : fmt::format("\"map\": {{\"{}\": [{{\"op\": \"cast\", \"dtype\": \"{}\"}}]}} makes integers of them",
                          request.input, request.dtype));
  }
}

std::string range_fault(const ColumnRequest& request, int64_t v) {
  const bool ignored = v == kIgnoreIndex && !request.one_hot && !request.looked_up;
  if (request.classes > 0 && !ignored && (v < 0 || v >= request.classes))
    return fmt::format("expected 0 ... {}", request.classes - 1);
  return holds(*element_type(request.dtype), v) ? "" : "it does not fit " + request.dtype;
}

void check_range(const ColumnRequest& request, const Column& column) {
  const std::optional<ElementType> want = element_type(request.dtype);
  if (is_floating(column.type) || (request.classes == 0 && is_floating(*want))) return;
  const auto count = static_cast<size_t>(column.content().size()) / static_cast<size_t>(size_of(column.type));
  visit(column.type, [&](auto zero) {
    using T = decltype(zero);
    // Values in [0, sure) are valid without further checks, and most values are.
    const int64_t sure = holds(*want, request.classes - 1) ? request.classes : 0;
    for (size_t i = 0; i < count; ++i) {
      T value;
      std::memcpy(&value, column.content().data() + i * sizeof(T), sizeof(T));
      const auto v = static_cast<int64_t>(value);
      if (v >= 0 && v < sure) continue;
      const std::string fault = range_fault(request, v);
      if (fault.empty()) continue;
      const auto row = request.first_row + static_cast<int64_t>(i) / column.row_elements();
      const bool fits = holds(*want, v) || fault.starts_with("expected");
      const char* wider = holds(ElementType::i32, v) ? "i32" : "i64";
      throw UserError(request.where, fmt::format("{}: row {} holds {}, {}", request.source(), row, v, fault),
                      fits ? "" : fmt::format("declare the input \"dtype\": \"{}\"", wider), request.bounded_by);
    }
  });
}

void cut_to_integers(const ColumnRequest& request, Column& column) {
  const ElementType type = *element_type(request.dtype);
  visit(column.type, [&](auto from) {
    visit(type, [&](auto to) {
      using From = decltype(from);
      using To = decltype(to);
      if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
        const size_t n = column.content().size() / sizeof(From);
        Column made = with_room(column, type);
        // 2^digits is the first number above; both limits are exact in either floating type.
        const auto above = std::ldexp(From{1}, std::numeric_limits<To>::digits);
        const From below = std::is_signed_v<To> ? -above : From{0};
        for (size_t i = 0; i < n; ++i) {
          From value;
          std::memcpy(&value, column.content().data() + i * sizeof(From), sizeof(From));
          const From whole = std::trunc(value);
          if (!(whole >= below && whole < above))
            throw UserError(
                request.where,
                fmt::format("{}: row {} holds {}, it does not fit {}", request.source(),
                            request.first_row + static_cast<int64_t>(i) / column.row_elements(), value, request.dtype));
          const To cut = static_cast<To>(whole);
          std::memcpy(made.writable() + i * sizeof(To), &cut, sizeof(To));
        }
        column = std::move(made);
      }
    });
  });
}

}  // namespace heddle::runtime::data
