#include <fmt/format.h>

#include "frontend/layer_context.h"

namespace heddle::frontend {
namespace {

using ir::Dims;

// Leading axes broadcast as NumPy's do.
Dims batch_shape(LayerContext& c, const Dims& a, const Dims& b) {
  Dims out;
  const size_t rank = std::max(a.size(), b.size()) - 2;
  for (size_t d = 0; d < rank; ++d) {
    const auto size = [&](const Dims& dims) {
      return d + dims.size() < rank + 2 ? int64_t{1} : dims[d + dims.size() - rank - 2];
    };
    if (size(a) != size(b) && size(a) != 1 && size(b) != 1) {
      c.fail(fmt::format("leading axes of {} and {} do not broadcast", c.shape_text(a), c.shape_text(b)), {}, 1);
    }
    out.push_back(std::max(size(a), size(b)));
  }
  return out;
}

ir::ValueId stretched(LayerContext& c, ir::ValueId v, Dims batch) {
  const Dims& dims = c.dims(v);
  batch.insert(batch.end(), dims.end() - 2, dims.end());
  return c.broadcast(v, batch);
}

ir::Values build(LayerContext& c) {
  const bool transpose_a = c.settings.flag("transpose_a"), transpose_b = c.settings.flag("transpose_b");
  c.require_rank(0, 2, 8, "a matrix or a batch of matrices");
  c.require_rank(1, 2, 8, "a matrix or a batch of matrices");
  c.require_one_type();
  const Dims a = c.dims(c.in[0]), b = c.dims(c.in[1]);
  const int64_t inner_a = transpose_a ? a[a.size() - 2] : a.back();
  const int64_t inner_b = transpose_b ? b.back() : b[b.size() - 2];
  if (inner_a != inner_b) {
    c.fail(fmt::format("inner dimensions differ: {} vs {} ({} and {})", inner_a, inner_b, c.shape_text(a),
                       c.shape_text(b)),
           b.back() == inner_a && !transpose_b ? "set \"transpose_b\": true" : "", 1);
  }
  const ir::Attrs attrs = {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}};
  if (b.size() == 2 && a.size() > 2 && !transpose_a) {  // one matrix for all: leading axes are rows
    const int64_t rows = ir::product(a) / a.back();
    Dims out = a;
    out.back() = transpose_b ? b[0] : b[1];
    return {c.reshape(c.emit("matmul", {c.reshape(c.in[0], {rows, a.back()}, "rows"), c.in[1]}, attrs, "mm"), out)};
  }
  const Dims batch = batch_shape(c, a, b);
  return {c.emit("matmul", {stretched(c, c.in[0], batch), stretched(c, c.in[1], batch)}, attrs)};
}

const RegisterLayer matmul({
    .name = "matmul",
    .doc = "matrix product of the last two axes; leading axes broadcast",
    .inputs = {"a", "b"},
    .settings = {{.name = "transpose_a", .type = KeyType::flag, .doc = "swap the last axes of a", .fallback = false},
                 {.name = "transpose_b", .type = KeyType::flag, .doc = "swap the last axes of b", .fallback = false}},
    .build = build,
});

}  // namespace
}  // namespace heddle::frontend
