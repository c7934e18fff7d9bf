#include "frontend/metrics/counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontend/layer_context.h"

namespace heddle::frontend {

using ir::Dims;
using ir::ValueId;

namespace {

constexpr const char* kThresholdHelp =
    "\"threshold\": 0 where they are logits, 0.5 where they are probabilities: a score above it is a 1";

bool has_class(const MeasureContext& c) { return c.settings.json("class") != nullptr; }

// One number, of one class or label or of all together.
bool is_one_number(const MeasureContext& c) {
  const std::string average = c.settings.text("average");
  return average.empty() || average == "micro";
}

void check_class(MeasureContext& c, int64_t classes, const std::string& what) {
  const int64_t number = c.settings.integer("class");
  if (number < 0 || number >= classes)
    c.settings.fail("class", fmt::format("'class' must lie in [0, {}), is {}", classes, number));
  if (!c.settings.text("average").empty())
    c.settings.fail("average", fmt::format("one {} has no average", what), "leave out 'average' or 'class'");
}

void require_choice(MeasureContext& c, const std::string& what) {
  if (has_class(c) || !c.settings.text("average").empty()) return;
  c.fail("expected 'class' or 'average'",
         fmt::format("for example \"class\": 1, or \"average\": \"macro\" for the mean over {}", what));
}

// Of rows that count, those for which the condition holds: f32 of what is not summed over.
ValueId counted(MeasureContext& c, ValueId condition, ValueId valid, const Dims& axes, const std::string& what) {
  const ValueId counts = c.emit("and", {condition, valid}, {}, what);
  return sum_of(c, as_number(c, counts, what), axes, what + "_count");
}
ValueId counted_rows(MeasureContext& c, ValueId valid, const Dims& axes) {
  return sum_of(c, as_number(c, valid, "rows"), axes, "rows_count");
}

// --- Classes: the largest logit of a row, and its label ---

ValueId best_class(MeasureContext& c) { return c.emit("argmax", {c.in[0]}, {{"axis", int64_t{-1}}}); }

Counts of_one_class(MeasureContext& c) {
  const ValueId valid = valid_rows(c), best = best_class(c);
  c.b.prefix = c.name + ".class";
  const ValueId number = c.b.like(static_cast<double>(c.settings.integer("class")), best);
  const ValueId predicted = c.emit("eq", {best, number}, {}, "is_predicted");
  const ValueId actual = c.emit("eq", {c.in[1], number}, {}, "is_actual");
  return {counted(c, c.emit("and", {predicted, actual}, {}, "is_both"), valid, {}, "both"),
          counted(c, predicted, valid, {}, "predicted"), counted(c, actual, valid, {}, "actual"),
          counted_rows(c, valid, {})};
}

// Each row is one of every class.
Counts of_all_classes(MeasureContext& c) {
  const ValueId valid = valid_rows(c), rows = valid_labels(c);
  c.b.prefix = c.name + ".classes";
  const ValueId classes = c.b.like(static_cast<double>(c.b.type(c.in[0]).dims.back()), rows);
  return {counted(c, c.emit("eq", {best_class(c), c.in[1]}, {}, "equal"), valid, {}, "both"), rows, rows,
          c.emit("mul", {rows, classes}, {}, "rows_of_classes")};
}

Counts of_each_class(MeasureContext& c) {
  const Dims dims = c.b.type(c.in[0]).dims, rows = leading_axes(dims);
  const ValueId valid = c.emit("broadcast", {valid_rows(c)}, {{"shape", dims}, {"dims", rows}}, "spread_valid");
  const ValueId predicted = class_hits(c, best_class(c), "predicted"), actual = label_hits(c);
  return {counted(c, c.emit("and", {predicted, actual}, {}, "is_both"), valid, rows, "both"),
          counted(c, predicted, valid, rows, "predicted"), counted(c, actual, valid, rows, "actual"),
          counted_rows(c, valid, rows)};
}

std::vector<MetricState> states_of(const Dims& dims, const CountRatio& ratio) {
  std::vector<MetricState> states = {{"both", dims}, {"predicted", dims}, {"actual", dims}};
  if (ratio.needs_rows) states.push_back({"rows", dims});
  return states;
}

ir::Values with_counts(MeasureContext& c, const CountRatio& ratio, const ir::Values& old, const Counts& n) {
  ir::Values more = {n.both, n.predicted, n.actual};
  if (ratio.needs_rows) more.push_back(n.rows);
  return with_batch(c, old, more);
}

std::vector<MetricState> class_states(MeasureContext& c, const CountRatio& ratio) {
  check_class_scores(c);
  check_classes(c);
  const int64_t classes = c.b.type(c.in[0]).dims.back();
  if (has_class(c)) check_class(c, classes, "class");
  require_choice(c, "classes");
  return states_of(is_one_number(c) ? Dims{} : Dims{classes}, ratio);
}

ir::Values next_classes(MeasureContext& c, const CountRatio& ratio, const ir::Values& old) {
  const Counts n = has_class(c) ? of_one_class(c) : is_one_number(c) ? of_all_classes(c) : of_each_class(c);
  return with_counts(c, ratio, old, n);
}

// --- Labels: scores above a threshold ---

// Both shapes as one, where they are or where one of them has a last axis of 1 more.
Dims common_shape(MeasureContext& c) {
  Dims scores = c.b.type(c.in[0]).dims, targets = c.b.type(c.in[1]).dims;
  const auto is_longer = [](const Dims& a, const Dims& b) {
    return a.size() == b.size() + 1 && a.back() == 1 && std::equal(b.begin(), b.end(), a.begin());
  };
  if (scores == targets || is_longer(targets, scores)) return scores;
  if (!is_longer(scores, targets))
    c.fail(fmt::format("with a threshold each score has its label, and scores are {}, labels {}", c.shape_text(scores),
                       c.shape_text(targets)),
           "leave out 'threshold' where labels are class numbers");
  return targets;
}

// The column of one label.
ValueId column(MeasureContext& c, ValueId v, const Dims& dims, int64_t number, const std::string& what) {
  Dims starts(dims.size(), 0), limits = dims;
  starts.back() = number;
  limits.back() = number + 1;
  return c.emit("slice", {v}, {{"starts", starts}, {"limits", limits}}, what);
}

}  // namespace

Key threshold_setting() {
  return {.name = "threshold",
          .type = KeyType::real,
          .doc = "a score above it is a 1, and each score has a label of 0 or 1; 0 fits logits, 0.5 probabilities"};
}
Key average_setting() {
  return {.name = "average",
          .type = KeyType::text,
          .doc = "micro: all classes or labels together; macro: the mean over them; none: each",
          .fallback = std::string(),
          .words = {"micro", "macro", "none"}};
}

bool has_threshold(const MeasureContext& c) { return c.settings.json("threshold") != nullptr; }

void check_class_scores(MeasureContext& c) {
  const Dims scores = c.b.type(c.in[0]).dims, labels = c.b.type(c.in[1]).dims;
  if (scores == labels)
    c.fail(
        fmt::format("there is a label for each score, {}, and nothing says which scores are a 1", c.shape_text(scores)),
        kThresholdHelp);
  if (!scores.empty() && scores.back() == 1)
    c.fail(fmt::format("a row of {} has one score: its largest says nothing", c.shape_text(scores)), kThresholdHelp);
}

Labels read_labels(MeasureContext& c) {
  check_target_types(c);
  const double threshold = c.settings.real("threshold");
  const ir::DType dtype = c.b.type(c.in[0]).dtype;
  if (!std::isfinite(threshold) || !fits(threshold, dtype))
    c.settings.fail("threshold", fmt::format("'threshold' is no finite {}: {}", ir::to_string(dtype), threshold));
  Labels l;
  l.dims = common_shape(c);
  const bool several = c.b.type(c.in[0]).dims == c.b.type(c.in[1]).dims && l.dims.size() > 1 && l.dims.back() > 1;
  l.labels = several ? l.dims.back() : 1;
  c.b.prefix = c.name + ".scores";
  const ValueId scores = c.b.reshape(c.in[0], l.dims);
  c.b.prefix = c.name + ".target";
  const ValueId targets = c.b.cast(c.b.reshape(c.in[1], l.dims), dtype);
  c.b.prefix = c.name + ".limit";
  l.predicted = c.emit("gt", {scores, c.b.like(threshold, scores)}, {}, "above");
  l.actual = c.emit("gt", {targets, c.b.like(0.5, targets)}, {}, "is_positive");
  const double ignored = static_cast<double>(c.settings.integer("ignore_index"));
  l.valid = c.emit("ne", {targets, c.b.like(ignored, targets)}, {}, "valid");
  return l;
}

std::vector<MetricState> label_states(MeasureContext& c, const CountRatio& ratio) {
  const int64_t labels = read_labels(c).labels;
  for (const char* name : {"class", "average"})
    if (labels == 1 && c.settings.json(name) != nullptr)
      c.settings.fail(name, fmt::format("a row has one label, there is no '{}'", name),
                      fmt::format("leave out '{}': what is asked for is the label of 1", name));
  if (has_class(c)) check_class(c, labels, "label");
  return states_of(is_one_number(c) ? Dims{} : Dims{labels}, ratio);
}

ir::Values next_labels(MeasureContext& c, const CountRatio& ratio, const ir::Values& old) {
  Labels l = read_labels(c);
  if (has_class(c)) {
    const int64_t number = c.settings.integer("class");
    l.predicted = column(c, l.predicted, l.dims, number, "predicted_label");
    l.actual = column(c, l.actual, l.dims, number, "actual_label");
    l.valid = column(c, l.valid, l.dims, number, "valid_label");
  }
  const Dims axes = is_one_number(c) ? Dims{} : leading_axes(l.dims);
  return with_counts(c, ratio, old,
                     {counted(c, c.emit("and", {l.predicted, l.actual}, {}, "is_both"), l.valid, axes, "both"),
                      counted(c, l.predicted, l.valid, axes, "predicted"),
                      counted(c, l.actual, l.valid, axes, "actual"), counted_rows(c, l.valid, axes)});
}

// Of one class and of all together a ratio of nothing has no value; beside other classes it counts as 0.
ValueId finish_counts(MeasureContext& c, const CountRatio& r) {
  const Counts n{c.in[0], c.in[1], c.in[2], r.needs_rows ? c.in[3] : ValueId{}};
  const ValueId above = r.above(c, n), below = r.below(c, n);
  if (is_one_number(c)) return c.emit("div", {above, below}, {}, "ratio");
  const ValueId of_classes = ratio(c, above, below);
  return c.settings.text("average") == "none" ? of_classes : c.emit("reduce_mean", {of_classes}, {}, "macro");
}

MetricDef counted_metric(const std::string& name, const std::string& doc, CountRatio ratio) {
  return {.name = name,
          .doc = doc,
          .inputs = class_inputs(),
          .higher_is_better = true,
          .settings = {ignore_setting(),
                       threshold_setting(),
                       {.name = "class", .doc = "the class, or the label, that is looked at"},
                       average_setting()},
          .classes = true,
          .states =
              [ratio](MeasureContext& c) {
                if (!has_threshold(c)) return class_states(c, ratio);
                std::vector<MetricState> states = label_states(c, ratio);
                if (read_labels(c).labels > 1) require_choice(c, "labels");
                return states;
              },
          .next =
              [ratio](MeasureContext& c, const ir::Values& old) {
                return has_threshold(c) ? next_labels(c, ratio, old) : next_classes(c, ratio, old);
              },
          .finish = [ratio](MeasureContext& c) { return finish_counts(c, ratio); }};
}

}  // namespace heddle::frontend
