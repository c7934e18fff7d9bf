#include "frontend/layers/index_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/limits.h"

namespace heddle::frontend {

using ir::Dims;

void require_indices(LayerContext& c, size_t input) {
  const ir::Type& type = c.type(c.in[input]);
  if (!ir::is_integer(type.dtype))
    c.fail(fmt::format("expected integer indices, found {}{}", ir::to_string(type.dtype), c.shape_text(type.dims)),
           "declare the input with \"dtype\": \"i32\"; what is computed becomes so by {\"op\": \"cast\", \"dtype\": "
           "\"i32\"}",
           input);
}

Dims found_by_coordinates(LayerContext& c) {
  require_indices(c, 1);
  const Dims &x = c.dims(c.in[0]), &indices = c.dims(c.in[1]);
  if (indices.empty()) c.fail("indices are a scalar", "their last axis holds the coordinates: reshape them to [1]", 1);
  const int64_t batch = c.settings.integer("batch"), each = indices.back();
  if (batch < 0 || batch >= std::ssize(indices))
    c.fail_setting("batch", fmt::format("'batch' is {}, the indices {} have {} axes before the coordinates", batch,
                                        c.shape_text(indices), indices.size() - 1));
  if (batch + each > std::ssize(x))
    c.fail(fmt::format("the last axis of the indices {} holds {} coordinates, {} has {} axes for them",
                       c.shape_text(indices), each, c.shape_text(x), std::ssize(x) - batch),
           "a vector of coordinates for each place: one coordinate is [.., 1]", 1);
  if (!std::equal(x.begin(), x.begin() + batch, indices.begin()))
    c.fail(
        fmt::format("{} and the indices {} differ in the first {} axes", c.shape_text(x), c.shape_text(indices), batch),
        {}, 1);
  Dims found(indices.begin(), indices.end() - 1);
  found.insert(found.end(), x.begin() + batch + each, x.end());
  if (found.size() > kMaxRank) c.fail(fmt::format("the result would have more than {} dimensions", kMaxRank));
  return found;
}

void require_updates(LayerContext& c, const Dims& dims) {
  const ir::Type &x = c.type(c.in[0]), &updates = c.type(c.in[2]);
  if (x.dtype == ir::DType::boolean) c.fail("bool cannot be combined", "cast it to i32");
  if (updates.dtype != x.dtype || updates.dims != dims)
    c.fail(fmt::format("expected updates {}{}, found {}{}", ir::to_string(x.dtype), c.shape_text(dims),
                       ir::to_string(updates.dtype), c.shape_text(updates.dims)),
           {}, 2);
}

}  // namespace heddle::frontend
