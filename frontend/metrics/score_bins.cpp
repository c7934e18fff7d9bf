#include "frontend/metrics/score_bins.h"

#include <fmt/format.h>

namespace heddle::frontend {

using ir::Dims;
using ir::ValueId;

namespace {

constexpr int64_t kMostBins = 4096;  // auc compares each with each

}  // namespace

std::vector<Key> score_bin_settings() {
  return {{.name = "bins", .doc = "of the scores' sigmoid", .fallback = int64_t{512}}, ignore_setting()};
}

std::vector<MetricState> score_bin_states(MeasureContext& c) {
  check_targets(c);
  const int64_t bins = c.settings.integer("bins");
  if (bins < 2 || bins > kMostBins)
    c.settings.fail("bins", fmt::format("'bins' must lie in [2, {}], is {}", kMostBins, bins));
  return {{"positive", {bins}}, {"negative", {bins}}};
}

namespace {

// i32 of the scores: floor(sigmoid * bins), the last bin for 1.
ValueId bin_of(MeasureContext& c, int64_t bins) {
  c.b.prefix = c.name + ".score";
  const ValueId share = c.emit("sigmoid", {c.b.cast(c.in[0], ir::DType::f32)}, {}, "share");
  c.b.prefix = c.name + ".bins";
  const ValueId place = c.emit("mul", {share, c.b.like(static_cast<double>(bins), share)}, {}, "place");
  const ValueId number = c.emit("cast", {place}, {{"dtype", std::string("i32")}}, "number");
  return c.emit("clamp", {number}, {{"low", 0.0}, {"high", static_cast<double>(bins - 1)}}, "bin");
}

// i32: bins of positives, behind them those of negatives; -1, which counts nowhere, where the target is ignored.
ValueId place_of(MeasureContext& c, int64_t bins) {
  const ValueId bin = bin_of(c, bins), target = check_targets(c);
  c.b.prefix = c.name + ".limit";
  const ValueId positive = c.emit("gt", {target, c.b.like(0.5, target)}, {}, "is_positive");
  const double ignored = static_cast<double>(c.settings.integer("ignore_index"));
  const ValueId valid = c.emit("ne", {target, c.b.like(ignored, target)}, {}, "valid");
  c.b.prefix = c.name + ".place";
  const ValueId behind = c.emit("add", {bin, c.b.like(static_cast<double>(bins), bin)}, {}, "negative_bin");
  const ValueId either = c.emit("select", {positive, bin, behind}, {}, "class_bin");
  return c.b.reshape(c.emit("select", {valid, either, c.b.like(-1, bin)}, {}, "place"), {c.b.type(bin).elements()});
}

}  // namespace

// A row is added to its bin: comparing each row with each bin takes 512 times as long.
ir::Values next_score_bins(MeasureContext& c, const ir::Values& old) {
  const int64_t bins = c.b.type(old[0]).dims[0], rows = c.b.type(c.in[0]).elements();
  const ValueId places = place_of(c, bins);
  const auto all = [&](double value, int64_t n) { return c.b.constant(value, {ir::DType::i32, {n}}); };
  c.b.prefix = c.name + ".counts";
  const ValueId nothing = all(0, 2 * bins), one = all(1, rows);
  const ValueId counts = c.emit("scatter", {nothing, places, one}, {{"combine", std::string("add")}}, "counts");
  const auto part = [&](int64_t from, const std::string& what) {
    return c.emit("slice", {counts}, {{"starts", Dims{from}}, {"limits", Dims{from + bins}}}, what + "_count");
  };
  return with_batch(c, old, {part(0, "positive"), part(bins, "negative")});
}

}  // namespace heddle::frontend
