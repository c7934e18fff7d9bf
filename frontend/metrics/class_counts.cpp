// precision, recall, f1, iou: ratios of how often a class was predicted, was right, and was both.
#include <fmt/format.h>

#include "frontend/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

enum class Average { of_one_class, micro, macro, none };

// The states, in this order: rows of a class that are predicted as it, that are predicted as it or are not, and its rows.
// Numbers, or one for each class.
struct Counts {
  ValueId both, predicted, actual;
};
using Term = ValueId (*)(MeasureContext& c, const Counts& n);

Average average_of(const MeasureContext& c) {
  const std::string average = c.settings.text("average");
  if (c.settings.json("class") != nullptr) return Average::of_one_class;
  return average == "micro" ? Average::micro : average == "macro" ? Average::macro : Average::none;
}

void check_average(MeasureContext& c) {
  check_classes(c);
  const std::string average = c.settings.text("average");
  if (c.settings.json("class") != nullptr) {
    const int64_t number = c.settings.integer("class"), classes = c.b.type(c.in[0]).dims.back();
    if (number < 0 || number >= classes)
      c.settings.fail("class", fmt::format("'class' must lie in [0, {}), is {}", classes, number));
    if (!average.empty()) c.settings.fail("average", "one class has no average", "leave out 'average' or 'class'");
  } else if (average.empty()) {
    c.fail("expected 'class' or 'average'",
           "for example \"class\": 1, or \"average\": \"macro\" for the mean over classes");
  }
}

ValueId best_class(MeasureContext& c) { return c.emit("argmax", {c.in[0]}, {{"axis", int64_t{-1}}}); }

// Of rows that count, those for which the condition holds: f32 of what is not summed over.
ValueId counted(MeasureContext& c, ValueId condition, ValueId valid, const Dims& axes, const std::string& what) {
  const ValueId counts = c.emit("and", {condition, valid}, {}, what);
  return sum_of(c, as_number(c, counts, what), axes, what + "_count");
}

Counts of_one_class(MeasureContext& c) {
  const ValueId valid = valid_rows(c), best = best_class(c);
  c.b.prefix = c.name + ".class";
  const ValueId number = c.b.like(static_cast<double>(c.settings.integer("class")), best);
  const ValueId predicted = c.emit("eq", {best, number}, {}, "is_predicted");
  const ValueId actual = c.emit("eq", {c.in[1], number}, {}, "is_actual");
  return {counted(c, c.emit("and", {predicted, actual}, {}, "is_both"), valid, {}, "both"),
          counted(c, predicted, valid, {}, "predicted"), counted(c, actual, valid, {}, "actual")};
}

Counts of_all_classes(MeasureContext& c) {
  const ValueId valid = valid_rows(c), rows = valid_labels(c);
  return {counted(c, c.emit("eq", {best_class(c), c.in[1]}, {}, "equal"), valid, {}, "both"), rows, rows};
}

Counts of_each_class(MeasureContext& c) {
  const Dims dims = c.b.type(c.in[0]).dims, rows = leading_axes(dims);
  const ValueId valid = c.emit("broadcast", {valid_rows(c)}, {{"shape", dims}, {"dims", rows}}, "spread_valid");
  const ValueId predicted = class_hits(c, best_class(c), "predicted"), actual = label_hits(c);
  return {counted(c, c.emit("and", {predicted, actual}, {}, "is_both"), valid, rows, "both"),
          counted(c, predicted, valid, rows, "predicted"), counted(c, actual, valid, rows, "actual")};
}

std::vector<MetricState> states(MeasureContext& c) {
  check_average(c);
  const Average average = average_of(c);
  const bool one_number = average == Average::of_one_class || average == Average::micro;
  const Dims dims = one_number ? Dims{} : Dims{c.b.type(c.in[0]).dims.back()};
  return {{"both", dims}, {"predicted", dims}, {"actual", dims}};
}

ir::Values next(MeasureContext& c, const ir::Values& old) {
  const Average average = average_of(c);
  const Counts n = average == Average::of_one_class ? of_one_class(c)
                   : average == Average::micro      ? of_all_classes(c)
                                                    : of_each_class(c);
  return with_batch(c, old, {n.both, n.predicted, n.actual});
}

// Of one class and of all together a ratio of nothing has no value; beside other classes it counts as 0.
ValueId finish(MeasureContext& c, Term above, Term below) {
  const Counts n{c.in[0], c.in[1], c.in[2]};
  const ValueId numerator = above(c, n), denominator = below(c, n);
  const Average average = average_of(c);
  if (average == Average::of_one_class || average == Average::micro)
    return c.emit("div", {numerator, denominator}, {}, "ratio");
  const ValueId of_classes = ratio(c, numerator, denominator);
  return average == Average::none ? of_classes : c.emit("reduce_mean", {of_classes}, {}, "macro");
}

MetricDef counted_metric(const std::string& name, const std::string& doc, Term above, Term below) {
  return {.name = name,
          .doc = doc,
          .inputs = class_inputs(),
          .higher_is_better = true,
          .settings = {ignore_setting(),
                       {.name = "class", .doc = "the class that is looked at"},
                       {.name = "average",
                        .type = SettingType::text,
                        .doc = "micro: all classes together; macro: the mean over classes; none: each class",
                        .fallback = std::string(),
                        .words = {"micro", "macro", "none"}}},
          .classes = true,
          .states = states,
          .next = next,
          .finish = [above, below](MeasureContext& c) { return finish(c, above, below); }};
}

ValueId both(MeasureContext&, const Counts& n) { return n.both; }
ValueId predicted(MeasureContext&, const Counts& n) { return n.predicted; }
ValueId actual(MeasureContext&, const Counts& n) { return n.actual; }
ValueId twice(MeasureContext& c, const Counts& n) { return c.emit("add", {n.both, n.both}, {}, "twice"); }
ValueId sizes(MeasureContext& c, const Counts& n) { return c.emit("add", {n.predicted, n.actual}, {}, "sizes"); }
ValueId either(MeasureContext& c, const Counts& n) { return c.emit("sub", {sizes(c, n), n.both}, {}, "union"); }

const RegisterMetric of_predicted(counted_metric("precision", "share of the rows predicted as the class that are of it",
                                                 both, predicted));
const RegisterMetric of_actual(counted_metric("recall", "share of the class's rows that are predicted as it", both,
                                              actual));
const RegisterMetric f1(counted_metric("f1", "harmonic mean of precision and recall", twice, sizes));
const RegisterMetric iou(counted_metric("iou", "rows of the class predicted as it over rows that are one of the two",
                                        both, either));

}  // namespace
}  // namespace heddle::frontend
