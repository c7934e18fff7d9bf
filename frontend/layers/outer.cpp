// outer: the products of each element of one vector with each element of another, for each row.
#include <fmt/format.h>

#include "frontend/layer_context.h"
#include "frontend/limits.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

ir::Values build(LayerContext& c) {
  c.require_one_type();
  if (c.type(c.in[0]).dtype == ir::DType::boolean) c.fail("bool has no products", "cast it to i32");
  const Dims x = c.dims(c.in[0]), y = c.dims(c.in[1]);
  const auto rows = [](const Dims& dims) { return Dims(dims.begin(), dims.end() - 1); };
  if (x.empty() || y.empty() || rows(x) != rows(y))
    c.fail(fmt::format("expected vectors along the last axes and equal axes before, found {} and {}", c.shape_text(x),
                       c.shape_text(y)),
           {}, 1);
  if (x.size() >= kMaxRank) c.fail(fmt::format("the result has more than {} dimensions", kMaxRank));
  Dims shape = x, with_columns, with_rows;
  shape.push_back(y.back());
  for (int64_t d = 0; d < std::ssize(x); ++d) with_rows.push_back(d);
  with_columns = with_rows;
  ++with_columns.back();
  const auto spread = [&](ValueId v, const Dims& dims, const std::string& what) {
    return c.emit("broadcast", {v}, {{"shape", shape}, {"dims", dims}}, what);
  };
  return {c.emit("mul", {spread(c.in[0], with_rows, "x_spread"), spread(c.in[1], with_columns, "y_spread")})};
}

const RegisterLayer outer({.name = "outer",
                           .doc = "[..., n] and [..., m] to [..., n, m]: each element of x times each of y",
                           .inputs = {"x", "y"},
                           .build = build});

}  // namespace
}  // namespace heddle::frontend
