// ece: the expected calibration error (Naeini et al. 2015; Guo et al. 2017, arXiv 1706.04599), with the bins of
// torchmetrics: [i / bins, (i + 1) / bins), and one more for a probability of 1.
#include <fmt/format.h>

#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::DType;
using ir::ValueId;

constexpr int64_t kMostBins = 65536;

// A target for each logit, instead of a class for each row.
bool is_binary(MeasureContext& c) { return c.b.type(c.in[0]).dims == c.b.type(c.in[1]).dims; }

std::vector<MetricState> states(MeasureContext& c) {
  if (is_binary(c))
    check_targets(c);
  else
    check_classes(c);
  const int64_t bins = c.settings.integer("bins") + 1;
  return {{"rows", {bins}}, {"confidence", {bins}}, {"right", {bins}}};
}

struct Rows {
  ValueId confidence, right, counts;  // f32, f32, bool: of each row, or of each logit
};

ValueId wide_logits(MeasureContext& c) {
  c.b.prefix = c.name + ".logits";
  return c.b.cast(c.in[0], DType::f32);
}

// Of a logit the probability of its label 1, and whether that is the label.
Rows of_targets(MeasureContext& c) {
  c.b.prefix = c.name + ".target_f32";
  const ValueId target = c.b.cast(check_targets(c), DType::f32);
  const double ignored = static_cast<double>(c.settings.integer("ignore_index"));
  return {c.emit("sigmoid", {wide_logits(c)}, {}, "probability"), target,
          c.emit("ne", {target, like(c, ignored, target)}, {}, "valid")};
}

// Of a row the probability of its most probable class, and whether that is the label.
Rows of_classes(MeasureContext& c) {
  const ValueId p = c.emit("softmax", {wide_logits(c)}, {}, "probabilities");
  const ValueId most = c.emit("reduce_max", {p}, {{"axes", last_axis(c.b.type(p).dims)}}, "confidence");
  const ValueId best = c.emit("argmax", {c.in[0]}, {{"axis", int64_t{-1}}});
  return {most, as_number(c, c.emit("eq", {best, c.in[1]}, {}, "right"), "right"), valid_rows(c)};
}

// i32: the bin of what counts; -1, which counts nowhere, of the rest.
ValueId places(MeasureContext& c, const Rows& rows) {
  const auto bins = static_cast<double>(c.settings.integer("bins"));
  const ValueId place = c.emit("mul", {rows.confidence, like(c, bins, rows.confidence)}, {}, "place");
  const ValueId bin = c.emit("cast", {place}, {{"dtype", std::string("i32")}}, "bin");
  return c.emit("select", {rows.counts, bin, like(c, -1, bin)}, {}, "bin_or_none");
}

ir::Values next(MeasureContext& c, const ir::Values& old) {
  const Rows rows = is_binary(c) ? of_targets(c) : of_classes(c);
  const auto flat = [&](ValueId v, const std::string& what) {
    c.b.prefix = c.name + "." + what + "_row";
    return c.b.reshape(v, {c.b.type(v).elements()});
  };
  const ValueId bins = flat(places(c, rows), "bin");
  const auto added = [&](ValueId values, const std::string& what) {
    c.b.prefix = c.name + "." + what + "_none";
    const ValueId none = c.b.constant(0, {c.b.type(values).dtype, c.b.type(old[0]).dims});
    return c.emit("scatter", {none, bins, values}, {{"combine", std::string("add")}}, what + "_sums");
  };
  c.b.prefix = c.name + ".one";
  const ValueId one = c.b.constant(1, c.b.type(bins));
  return with_batch(c, old,
                    {added(one, "row"), added(flat(rows.confidence, "confidence"), "confidence"),
                     added(flat(rows.right, "right"), "right")});
}

// The sum over bins of |share right - mean confidence| times the bin's share of the rows.
ValueId finish(MeasureContext& c) {
  const ValueId off = c.emit("abs", {c.emit("sub", {c.in[2], c.in[1]}, {}, "off")}, {}, "size");
  return c.emit("div", {sum_of(c, off, {}, "off_sum"), sum_of(c, c.in[0], {}, "all_rows")}, {}, "error");
}

const RegisterMetric ece(
    {.name = "ece",
     .doc = "expected calibration error: over bins of the probability, how far it is from the share that is right",
     .inputs = class_inputs(),
     .settings = {ignore_setting(),
                  {.name = "bins",
                   .doc = "of equal width, and one more for a probability of 1",
                   .fallback = int64_t{15},
                   .range = ir::between(1, kMostBins)}},
     .classes = true,
     .states = states,
     .next = next,
     .finish = finish});

}  // namespace
}  // namespace heddle::frontend
