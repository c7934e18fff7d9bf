// Losses and metrics. A metric is a numerator and a denominator, so that totals over a split are exact whatever the
// batches.
#include <fmt/format.h>

#include "frontend/training_def.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

constexpr double kIgnored = -100;  // a label that does not count

void check_classes(MeasureContext& c) {
  const ir::Type logits = c.b.type(c.in[0]), labels = c.b.type(c.in[1]);
  Dims rows = logits.dims;
  if (!rows.empty()) rows.pop_back();
  if (!ir::is_floating(logits.dtype) || logits.dims.size() < 2) {
    c.fail(fmt::format("expected logits [N, ..., classes], found {}{}", ir::to_string(logits.dtype),
                       c.shape_text(logits.dims)),
           "the first of 'in' is the logits, the second the labels");
  }
  if (labels.dtype != ir::DType::i32) {
    c.fail(fmt::format("expected labels of type i32, found {}", ir::to_string(labels.dtype)),
           "give the label's input \"dtype\": \"i32\"; an input without a dtype is f32");
  }
  if (labels.dims != rows) {
    c.fail(fmt::format("labels {} do not match logits {}: expected {}", c.shape_text(labels.dims),
                       c.shape_text(logits.dims), c.shape_text(rows)),
           "labels are class numbers, one for each row of logits");
  }
}

void check_values(MeasureContext& c) {
  const ir::Type a = c.b.type(c.in[0]), b = c.b.type(c.in[1]);
  if (!ir::is_floating(a.dtype) || a.dtype != b.dtype) {
    c.fail(fmt::format("expected two floating-point values of one type, found {} and {}", ir::to_string(a.dtype),
                       ir::to_string(b.dtype)),
           "");
  }
  if (a.dims != b.dims) {
    c.fail(fmt::format("shapes differ: {} vs {}", c.shape_text(a.dims), c.shape_text(b.dims)),
           "insert a reshape: the loss does not broadcast");
  }
}

ValueId counted(MeasureContext& c, ValueId condition, std::string_view what) {
  return c.emit("reduce_sum",
                {c.emit("cast", {condition}, {{"dtype", std::string("f32")}}, fmt::format("{}_as_number", what))});
}

ValueId valid_labels(MeasureContext& c) {
  c.b.prefix = c.name + ".ignored";
  const ValueId ignored = c.b.like(kIgnored, c.in[1]);
  return counted(c, c.emit("ne", {c.in[1], ignored}, {}, "valid"), "valid");
}

ValueId elements(MeasureContext& c) { return c.count(static_cast<double>(c.b.type(c.in[0]).elements())); }

ValueId cross_entropy_mean(MeasureContext& c) {
  check_classes(c);
  return c.emit("cross_entropy", c.in);
}

ValueId squares(MeasureContext& c) {
  check_values(c);
  return c.emit("square", {c.emit("sub", c.in, {}, "difference")});
}

ValueId correct(MeasureContext& c) {
  check_classes(c);
  const ValueId best = c.emit("argmax", {c.in[0]}, {{"axis", int64_t{-1}}});
  return counted(c, c.emit("eq", {best, c.in[1]}, {}, "hits"), "hits");
}

const std::vector<std::string> kClasses = {"logits", "labels"};
const std::vector<std::string> kPair = {"predicted", "target"};

const RegisterLoss cross_entropy({.name = "cross_entropy",
                                  .doc = "mean of -log softmax(logits)[label] over rows whose label is not -100",
                                  .inputs = kClasses,
                                  .mean = cross_entropy_mean,
                                  .count = valid_labels});
const RegisterLoss mse({.name = "mse",
                        .doc = "mean of the squared differences",
                        .inputs = kPair,
                        .mean = [](MeasureContext& c) { return c.emit("reduce_mean", {squares(c)}); },
                        .count = elements});

const RegisterMetric accuracy({.name = "accuracy",
                               .doc = "share of rows whose largest logit is the label's; the lowest index wins ties",
                               .inputs = kClasses,
                               .higher_is_better = true,
                               .numerator = correct,
                               .denominator = valid_labels});
const RegisterMetric perplexity({.name = "perplexity",
                                 .doc = "exp of the mean cross-entropy",
                                 .inputs = kClasses,
                                 .finish = "exp",
                                 .numerator =
                                     [](MeasureContext& c) {
                                       return c.emit("mul", {cross_entropy_mean(c), valid_labels(c)});
                                     },
                                 .denominator = valid_labels});
const RegisterMetric mse_metric({.name = "mse",
                                 .doc = "mean of the squared differences",
                                 .inputs = kPair,
                                 .numerator = [](MeasureContext& c) { return c.emit("reduce_sum", {squares(c)}); },
                                 .denominator = elements});
const RegisterMetric rmse({.name = "rmse",
                           .doc = "square root of the mean of the squared differences",
                           .inputs = kPair,
                           .finish = "sqrt",
                           .numerator = [](MeasureContext& c) { return c.emit("reduce_sum", {squares(c)}); },
                           .denominator = elements});
const RegisterMetric mae({.name = "mae",
                          .doc = "mean of the absolute differences",
                          .inputs = kPair,
                          .numerator =
                              [](MeasureContext& c) {
                                check_values(c);
                                return c.emit("reduce_sum", {c.emit("abs", {c.emit("sub", c.in, {}, "difference")})});
                              },
                          .denominator = elements});

}  // namespace
}  // namespace heddle::frontend
