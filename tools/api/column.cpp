#include <fmt/format.h>

#include "runtime/data/check_column.h"
#include "tools/api/guarded.h"

namespace heddle::api {

using runtime::data::Column;
using runtime::data::ElementType;

ElementType element_type(const Array& array) {
  if (const auto type = runtime::data::element_type(array.dtype)) return *type;
  throw UserError(ExitCode::usage, fmt::format("an array has no dtype '{}'", array.dtype),
                  "f32, f64, u8, i8, i16, i32, i64");
}

Column column_of(const Array& array, const runtime::data::ColumnRequest& asked, int64_t first, int64_t count) {
  runtime::data::ColumnRequest request = asked;
  request.sources = {{fmt::format("array '{}'", asked.input)}};
  request.first_row = first;
  if (array.shape.empty())
    throw UserError(ExitCode::usage, fmt::format("array '{}' has no rows", asked.input), "its first axis counts them");
  Column column{
      .input = asked.input, .type = element_type(array), .dims = {array.shape.begin() + 1, array.shape.end()}};
  int64_t bytes = runtime::data::size_of(column.type);
  for (const int64_t d : array.shape)
    if (d < 0 || __builtin_mul_overflow(bytes, d, &bytes)) bytes = -1;
  if (bytes != std::ssize(array.bytes))
    throw UserError(ExitCode::usage,
                    fmt::format("array '{}' has {} bytes, its shape says otherwise", asked.input, array.bytes.size()));
  check_dims(request, column);
  check_type(request, column.type);
  const auto begin = array.bytes.begin() + first * column.row_bytes();
  column.bytes.assign(begin, begin + count * column.row_bytes());
  if (request.cuts(column.type)) cut_to_integers(request, column);
  check_range(request, column);
  return column;
}

}  // namespace heddle::api
