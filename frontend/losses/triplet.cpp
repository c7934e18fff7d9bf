// triplet, by torch.nn.TripletMarginLoss (Balntas et al. 2016).
#include <fmt/format.h>

#include "frontend/training/measure_parts.h"
#include "frontend/vector_norm.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

void check(MeasureContext& c) {
  const ir::Type& anchor = c.b.type(c.in[0]);
  for (const size_t i : {size_t{1}, size_t{2}})
    if (const ir::Type& other = c.b.type(c.in[i]); other != anchor)
      c.fail(
          fmt::format("expected three values of one type and shape, found {}{} and {}{}", ir::to_string(anchor.dtype),
                      c.shape_text(anchor.dims), ir::to_string(other.dtype), c.shape_text(other.dims)),
          "they are the embeddings of an anchor, of a row like it, and of one unlike it");
  if (!ir::is_floating(anchor.dtype) || anchor.dims.size() < 2 || anchor.dims[0] != c.rows)
    c.fail(fmt::format("expected floating-point embeddings of each row [N, ..., features], found {}{}",
                       ir::to_string(anchor.dtype), c.shape_text(anchor.dims)),
           "");
}

ValueId distance(MeasureContext& c, size_t i, size_t k, const std::string& what) {
  return pair_distance(c.b, c.name + "." + what, c.in[i], c.in[k], c.settings.real("p"), c.settings.real("eps"));
}

// How many distances there are, or what their rows weigh.
ValueId count(MeasureContext& c) {
  const ir::Dims& dims = c.b.type(c.in[0]).dims;
  const int64_t distances_of_row = ir::product(dims) / dims.back() / c.rows;
  const auto each = static_cast<double>(distances_of_row);
  if (!c.weights.valid()) return c.count(each * static_cast<double>(c.rows));
  const ValueId weight = sum_of(c, c.weights, {}, "weight_of_rows");
  return c.emit("mul", {weight, like(c, each, weight)}, {}, "weight_of_distances");
}

ValueId mean(MeasureContext& c) {
  check(c);
  const ValueId near = distance(c, 0, 1, "to_positive");
  ValueId far = distance(c, 0, 2, "to_negative");
  if (c.settings.flag("swap")) far = c.emit("min", {far, distance(c, 1, 2, "between")}, {}, "nearer_negative");
  const ValueId excess = c.emit("sub", {near, far}, {}, "excess");
  const ValueId missing = c.emit("add", {excess, like(c, c.settings.real("margin"), excess)}, {}, "missing");
  c.b.prefix = c.name + ".values";
  ValueId cost = c.b.cast(c.emit("relu", {missing}), ir::DType::f32);
  if (c.weights.valid()) cost = c.emit("mul", {cost, spread_weights(c, c.b.type(cost).dims)}, {}, "weighed");
  return ratio(c, sum_of(c, cost, {}, "cost_sum"), count(c));
}

const RegisterLoss triplet(
    {.name = "triplet",
     .doc = "mean of max(0, d(anchor, positive) - d(anchor, negative) + margin), d(u, v) the norm p of u - v + eps",
     .inputs = {"anchor", "positive", "negative"},
     .settings = {{.name = "margin",
                   .type = KeyType::real,
                   .doc = "by how much the negative is to be farther away",
                   .fallback = 1.0,
                   .range = as_f32(ir::kAboveZero)},
                  {.name = "p",
                   .type = KeyType::real,
                   .doc = "of the norm: 2 is Euclid's, 1 the sum of sizes",
                   .fallback = 2.0,
                   .range = as_f32(ir::kAboveZero)},
                  {.name = "eps",
                   .type = KeyType::real,
                   .doc = "added to each difference",
                   .fallback = 1e-6,
                   .range = as_f32(ir::kNotNegative)},
                  {.name = "swap",
                   .type = KeyType::flag,
                   .doc = "the negative's distance is that to the nearer one of anchor and positive",
                   .fallback = false}},
     .mean = mean,
     .count = count});

}  // namespace
}  // namespace heddle::frontend
