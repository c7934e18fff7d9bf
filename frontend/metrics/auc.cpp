// auc: the area under the ROC curve, of scores in bins of their sigmoid.
#include "frontend/metrics/score_bins.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

// The share of pairs of a positive and a negative whose positive lies in a later bin; in one bin they count half.
ValueId finish(MeasureContext& c) {
  const ValueId positive = c.in[0], negative = c.in[1];
  const int64_t bins = c.b.type(positive).dims[0];
  const Dims square = {bins, bins};
  const auto numbers = [&](int64_t axis, std::string_view name) {
    return c.emit("iota", {}, {{"axis", axis}, {"shape", square}}, name);
  };
  const ValueId below = c.emit("gt", {numbers(0, "rows"), numbers(1, "columns")}, {}, "below");
  const ValueId spread = c.emit("broadcast", {negative}, {{"shape", square}, {"dims", Dims{1}}}, "spread_negative");
  c.b.prefix = c.name + ".zero";
  const ValueId lower =
      sum_of(c, c.emit("select", {below, spread, c.b.like(0, spread)}, {}, "lower_negative"), {1}, "lower");
  const ValueId half = c.emit("mul", {negative, c.b.like(0.5, negative)}, {}, "half");
  const ValueId pairs = c.emit("mul", {positive, c.emit("add", {lower, half}, {}, "beaten")}, {}, "pairs");
  const ValueId all =
      c.emit("mul", {sum_of(c, positive, {}, "positives"), sum_of(c, negative, {}, "negatives")}, {}, "all_pairs");
  return c.emit("div", {sum_of(c, pairs, {}, "won_pairs"), all}, {}, "area");
}

const RegisterMetric auc({.name = "auc",
                          .doc = "area under the ROC curve: how often a positive has the larger score of the two",
                          .inputs = {"scores", "targets"},
                          .higher_is_better = true,
                          .settings = score_bin_settings(),
                          .states = score_bin_states,
                          .next = next_score_bins,
                          .finish = finish});

}  // namespace
}  // namespace heddle::frontend
