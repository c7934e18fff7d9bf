// orthogonal: rows, or columns, of length 1 at right angles (the soft orthogonality of Bansal, Chen and Wang 2018,
// arXiv:1810.09102, of the side on which it can be reached).
#include "frontend/training/weight_rules.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

bool of_rows(const Settings& settings, int64_t rows, int64_t columns) {
  return settings.has("mode") ? settings.text("mode") == "rows" : rows <= columns;
}

// W W^t, or W^t W, less the unit matrix, of W [first dimension, all others].
ValueId deviation(PenaltyContext& c, ValueId parameter) {
  const Dims dims = c.b.type(parameter).dims;
  const int64_t rows = dims[0], columns = c.b.type(parameter).elements() / rows;
  const bool wide = of_rows(c.settings, rows, columns);
  c.b.prefix = c.name + ".matrix";
  const ValueId matrix = c.b.reshape(parameter, {rows, columns});
  const ValueId gram = c.emit("matmul", {matrix, matrix}, {{wide ? "transpose_b" : "transpose_a", true}}, "gram");
  const Dims square = c.b.type(gram).dims;
  const ValueId row = c.emit("iota", {}, {{"shape", square}, {"axis", int64_t{0}}}, "row");
  const ValueId column = c.emit("iota", {}, {{"shape", square}, {"axis", int64_t{1}}}, "column");
  const ValueId diagonal = c.emit("eq", {row, column}, {}, "diagonal");
  c.b.prefix = c.name + ".unit";
  return c.emit("sub", {gram, c.b.cast(diagonal, c.b.type(gram).dtype)}, {}, "deviation");
}

ValueId penalty(PenaltyContext& c) {
  ir::Values deviations;
  for (size_t i = 0; i < c.parameters.size(); ++i) deviations.push_back(deviation(c, c.logical(i)));
  return c.weighted({c.emit("squared_norm", deviations, {}, "squared_norm")}, "weight");
}

const RegisterRegularizer orthogonal(
    {.name = "orthogonal",
     .doc = "weight times the sum of the squares of W W^t - I, or of W^t W - I, of W [first dimension, all others]",
     .settings = {{.name = "weight",
                   .type = KeyType::real,
                   .doc = "what the sum of squares is multiplied by",
                   .required = true,
                   .range = as_f32(ir::kNotNegative)},
                  {.name = "mode",
                   .type = KeyType::text,
                   .doc = "rows (W W^t) or columns (W^t W): those of which there are fewer",
                   .words = {"rows", "columns"}}},
     .penalty = penalty,
     .least_rank = 2});

}  // namespace
}  // namespace heddle::frontend
