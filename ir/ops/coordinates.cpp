#include "ir/ops/coordinates.h"

#include <fmt/format.h>

#include "ir/ops/loops.h"
#include "ir/ops/shape.h"

namespace heddle::ir {

Dims in_a_row(Dims a, const Dims& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Key batch_attr() {
  return {.name = "batch",
          .type = KeyType::integer,
          .doc = "leading axes that x and indices have in common",
          .fallback = int64_t{0}};
}

Coordinates coordinates(const Signature& s) {
  const Type &x = s.operands[0], &indices = s.operands[1];
  if (!is_integer(indices.dtype) || indices.rank() == 0)
    throw InferError(fmt::format("expected integer indices [.., coordinates], got {}", to_string(indices)));
  const int64_t batch = s.integer("batch"), each = indices.dims.back();
  if (batch < 0 || batch >= indices.rank() || batch + each > x.rank())
    throw InferError(fmt::format("batch is {}, and {} coordinates follow it: indices are {}, x has {} axes", batch,
                                 each, to_string(indices), x.rank()));
  const auto first = x.dims.begin() + static_cast<std::ptrdiff_t>(batch);
  const auto rest = first + static_cast<std::ptrdiff_t>(each);
  Coordinates c{.batch = static_cast<size_t>(batch),
                .points = Dims(indices.dims.begin(), indices.dims.end() - 1),
                .indexed = Dims(first, rest),
                .rest = Dims(rest, x.dims.end())};
  for (size_t d = 0; d < c.batch; ++d)
    if (x.dims[d] != c.points[d])
      throw InferError(fmt::format("axis {} of the batch is {} of x and {} of the indices", d, x.dims[d], c.points[d]));
  checked_type(x.dtype, in_a_row(c.points, c.rest));
  return c;
}

Dims indexed_axes(const Signature& s) { return coordinates(s).indexed; }

int64_t row_at(const Coordinates& c, const Tensor& indices, const Dims& point) {
  int64_t row = 0;
  for (size_t d = 0; d < c.batch; ++d) row = row * c.points[d] + point[d];
  const auto each = static_cast<int64_t>(c.indexed.size());
  const int64_t first = position(c.points, point) * each;
  for (int64_t i = 0; i < each; ++i) {
    const int64_t size = c.indexed[static_cast<size_t>(i)];
    const int64_t index = indices.integer[static_cast<size_t>(first + i)];
    if (index < 0 || index >= size) return -1;  // u64 from 2^63 on is held as a negative number
    row = row * size + index;
  }
  return row;
}

}  // namespace heddle::ir
