// tril and triu: one triangle of matrices, and 0 elsewhere.
#include <algorithm>

#include "frontend/layer_context.h"
#include "frontend/limits.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

// Of the last two axes: column - row <= diagonal is kept, or >=.
ir::Values build(LayerContext& c, const char* compare) {
  c.require_rank(0, 2, static_cast<int64_t>(kMaxRank), "matrices [..., rows, columns]");
  const ir::Type type = c.type(c.in[0]);
  const int64_t rank = type.rank();
  const auto place = [&](int64_t axis, const std::string& what) {
    return c.emit("iota", {}, {{"shape", type.dims}, {"axis", axis}}, what);
  };
  const ValueId row = place(rank - 2, "row"), column = place(rank - 1, "column");
  // Farther diagonals leave nothing out, or everything.
  const int64_t rows = type.dims[static_cast<size_t>(rank) - 2], columns = type.dims.back();
  const int64_t diagonal = std::clamp(c.settings.integer("diagonal"), -rows, columns);
  const ValueId limit = c.emit("add", {row, c.constant(static_cast<double>(diagonal), c.type(row))}, {}, "limit");
  const ValueId kept = c.emit(compare, {column, limit}, {}, "kept");
  return {c.emit("select", {kept, c.in[0], c.constant(0, type)})};
}

LayerDef triangle(const std::string& name, const std::string& doc, const char* compare) {
  return {.name = name,
          .doc = doc,
          .settings = {{.name = "diagonal",
                        .doc = "the last one that is kept: 0 is the main one, 1 the one above it, -1 the one below",
                        .fallback = int64_t{0}}},
          .build = [compare](LayerContext& c) { return build(c, compare); }};
}

const RegisterLayer tril(triangle("tril", "the lower triangle of matrices, and 0 above it", "le"));
const RegisterLayer triu(triangle("triu", "the upper triangle of matrices, and 0 below it", "ge"));

}  // namespace
}  // namespace heddle::frontend
