// dice (Milletari et al. 2016, arXiv 1606.04797) and tversky (Salehi et al. 2017, arXiv 1706.05721, equation 3): one
// minus how much of a row's elements and of its targets are the same ones. PyTorch has neither; smoothing and the names
// of weights are MONAI's.
#include <fmt/format.h>

#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

// Of each row: the sums over its elements of what is in both, falsely found, and missed.
struct Overlap {
  ValueId both, extra, missed;
};

Overlap overlap(MeasureContext& c) {
  const ValueId target = check_targets(c);
  const Dims dims = c.b.type(c.in[0]).dims;
  if (dims.empty() || dims[0] != c.rows)
    c.fail(fmt::format("expected elements of each row of the batch, found {}", c.shape_text(dims)),
           "the first axis is that of the rows, and sums are over the others");
  Dims axes;
  for (int64_t axis = 1; axis < std::ssize(dims); ++axis) axes.push_back(axis);
  const auto row_sum = [&](ValueId v, const std::string& what) {
    c.b.prefix = c.name + "." + what + "_f32";
    const ValueId wide = c.b.cast(v, ir::DType::f32);
    return axes.empty() ? wide : sum_of(c, wide, axes, what);
  };
  const bool given = c.settings.flag("probabilities");
  const ValueId p = given ? c.in[0] : c.emit("sigmoid", {c.in[0]}, {}, "probabilities");
  // 1 - sigmoid(x) is sigmoid(-x), which loses nothing.
  const ValueId q = given ? c.emit("sub", {like(c, 1, p), p}, {}, "others")
                          : c.emit("sigmoid", {c.emit("neg", {c.in[0]}, {}, "against")}, {}, "others");
  const ValueId rest = c.emit("sub", {like(c, 1, target), target}, {}, "rest");
  return {row_sum(c.emit("mul", {p, target}, {}, "both_elements"), "both"),
          row_sum(c.emit("mul", {p, rest}, {}, "extra_elements"), "extra"),
          row_sum(c.emit("mul", {q, target}, {}, "missed_elements"), "missed")};
}

ValueId count(MeasureContext& c) {
  return c.weights.valid() ? sum_of(c, c.weights, {}, "weight_of_rows") : c.count(static_cast<double>(c.rows));
}

ValueId scaled(MeasureContext& c, ValueId v, double factor, const std::string& what) {
  return c.emit("mul", {v, like(c, factor, v)}, {}, what);
}

// Over rows the mean of (extra + missed) / (both * share + extra + missed + smooth): of 1 minus the ratio of what is
// alike, without the difference.
ValueId mean_of_rows(MeasureContext& c, ValueId both, ValueId apart) {
  const double smooth = c.settings.real("smooth");
  const ValueId all =
      c.emit("add", {c.emit("add", {both, apart}, {}, "found_and_there"), like(c, smooth, both)}, {}, "smoothed");
  ValueId cost = c.emit("div", {apart, all}, {}, "values");
  if (c.weights.valid()) cost = c.emit("mul", {cost, c.weights}, {}, "weighed");
  return ratio(c, sum_of(c, cost, {}, "cost_sum"), count(c));
}

ValueId dice_mean(MeasureContext& c) {
  const Overlap n = overlap(c);
  return mean_of_rows(c, scaled(c, n.both, 2, "twice"), c.emit("add", {n.extra, n.missed}, {}, "apart"));
}

ValueId tversky_mean(MeasureContext& c) {
  const Overlap n = overlap(c);
  const ValueId extra = scaled(c, n.extra, c.settings.real("alpha"), "extra_weighed");
  const ValueId missed = scaled(c, n.missed, c.settings.real("beta"), "missed_weighed");
  return mean_of_rows(c, n.both, c.emit("add", {extra, missed}, {}, "apart"));
}

Key smooth_setting() {
  return {.name = "smooth",
          .type = KeyType::real,
          .doc = "added above and below: a row without targets, in which nothing is found, costs 0",
          .fallback = 1e-5,
          .range = as_f32(ir::kAboveZero)};
}
Key probabilities_setting() {
  return {.name = "probabilities",
          .type = KeyType::flag,
          .doc = "the first input is between 0 and 1 already, as a sigmoid or softmax makes it",
          .fallback = false};
}
Key share(const std::string& name, const std::string& doc) {
  return {.name = name, .type = KeyType::real, .doc = doc, .fallback = 0.5, .range = as_f32(ir::kNotNegative)};
}

const RegisterLoss dice({.name = "dice",
                         .doc = "mean over rows of 1 - (2 sum p t + smooth) / (sum p + sum t + smooth), p = sigmoid(x)",
                         .inputs = {"logits", "target"},
                         .settings = {smooth_setting(), probabilities_setting()},
                         .mean = dice_mean,
                         .count = count});
const RegisterLoss tversky(
    {.name = "tversky",
     .doc = "mean over rows of 1 - (sum p t + smooth) / (sum p t + alpha sum p (1 - t) + beta sum (1 - p) t + smooth), "
            "p = sigmoid(x)",
     .inputs = {"logits", "target"},
     .settings = {share("alpha", "what counts that is found and not there"),
                  share("beta", "what counts that is there and not found"), smooth_setting(), probabilities_setting()},
     .mean = tversky_mean,
     .count = count});

}  // namespace
}  // namespace heddle::frontend
