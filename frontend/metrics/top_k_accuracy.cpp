#include <fmt/format.h>

#include <limits>

#include "frontend/training/measure_parts.h"
#include "frontend/training/product_logits.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

// Classes with a larger logit than the label's, or with the same and a lower number: fewer than k of them.
ValueId correct(MeasureContext& c) {
  check_classes(c);
  const Dims dims = c.b.type(c.in[0]).dims, last = last_axis(dims), rows = leading_axes(dims);
  const int64_t k = c.settings.integer("k");
  if (k > dims.back()) c.settings.fail("k", fmt::format("'k' is {}, and there are {} classes", k, dims.back()));
  if (const auto product = product_logits(c)) return among_the_best(c, *product, k);
  const ValueId hits = label_hits(c), logits = c.in[0];
  c.b.prefix = c.name + ".constant";
  const ValueId least = c.b.like(-std::numeric_limits<double>::infinity(), logits);
  const ValueId own =
      c.emit("reduce_max", {c.emit("select", {hits, logits, least}, {}, "picked")}, {{"axes", last}}, "own");
  const auto spread = [&](ValueId v, std::string_view name) {
    return c.emit("broadcast", {v}, {{"shape", dims}, {"dims", rows}}, name);
  };
  const ValueId limit = spread(own, "spread_own");
  const ValueId classes = c.emit("iota", {}, {{"axis", last[0]}, {"shape", dims}}, "class_numbers");
  const ValueId lower = c.emit("lt", {classes, spread(c.in[1], "spread_label")}, {}, "lower");
  const ValueId equal = c.emit("and", {c.emit("eq", {logits, limit}, {}, "equal"), lower}, {}, "wins_tie");
  const ValueId better = c.emit("or", {c.emit("gt", {logits, limit}, {}, "larger"), equal}, {}, "better");
  const ValueId rank = sum_of(c, as_number(c, better, "better"), last, "rank");
  const ValueId found = sum_of(c, as_number(c, hits, "hits"), last, "found");
  c.b.prefix = c.name + ".limit";
  const ValueId near = c.emit("lt", {rank, c.b.like(static_cast<double>(k), rank)}, {}, "near");
  const ValueId known =
      c.emit("and", {c.emit("gt", {found, c.b.like(0, found)}, {}, "known"), valid_rows(c)}, {}, "own_row");
  return sum_of(c, as_number(c, c.emit("and", {near, known}, {}, "counted_hits"), "counted"), {}, "reduce_sum");
}

const RegisterMetric top_k_accuracy(ratio_metric(
    {.name = "top_k_accuracy",
     .doc = "share of rows whose label is among the k largest logits; the lowest index wins ties",
     .inputs = class_inputs(),
     .higher_is_better = true,
     .settings = {ignore_setting(),
                  {.name = "k", .doc = "how many logits count", .fallback = int64_t{5}, .range = ir::at_least(1)}},
     .classes = true,
     .chunks = true},
    correct, valid_labels));

}  // namespace
}  // namespace heddle::frontend
