// precision, recall, f1, iou: ratios of how often a class was predicted, was right, and was both.
#include <fmt/format.h>

#include "frontend/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

struct Counts {
  ValueId both, predicted, actual;  // f32[]
};

// One class, or all of them together.
bool of_one_class(MeasureContext& c) {
  const std::string average = c.settings.text("average");
  if (c.settings.json("class") != nullptr) {
    const int64_t number = c.settings.integer("class"), classes = c.b.type(c.in[0]).dims.back();
    if (number < 0 || number >= classes)
      c.settings.fail("class", fmt::format("'class' must lie in [0, {}), is {}", classes, number));
    if (!average.empty()) c.settings.fail("average", "one class has no average", "leave out 'average' or 'class'");
    return true;
  }
  if (average == "macro") c.settings.fail("average", "the average macro is not supported by this version");
  if (average.empty())
    c.fail("expected 'class' or 'average'",
           "for example \"class\": 1, or \"average\": \"micro\" for all classes together");
  if (average != "micro") c.settings.fail("average", fmt::format("'average': expected \"micro\", found '{}'", average));
  return false;
}

Counts counts(MeasureContext& c) {
  check_classes(c);
  const bool one = of_one_class(c);
  const ValueId valid = valid_rows(c);
  const ValueId best = c.emit("argmax", {c.in[0]}, {{"axis", int64_t{-1}}});
  const auto counted = [&](ValueId condition, const std::string& what) {
    const ValueId counts = c.emit("and", {condition, valid}, {}, what);
    return sum_of(c, as_number(c, counts, what), {}, what + "_count");
  };
  if (!one) {
    const ValueId rows = valid_labels(c);
    return {counted(c.emit("eq", {best, c.in[1]}, {}, "equal"), "both"), rows, rows};
  }
  c.b.prefix = c.name + ".class";
  const ValueId number = c.b.like(static_cast<double>(c.settings.integer("class")), best);
  const ValueId predicted = c.emit("eq", {best, number}, {}, "is_predicted");
  const ValueId actual = c.emit("eq", {c.in[1], number}, {}, "is_actual");
  return {counted(c.emit("and", {predicted, actual}, {}, "is_both"), "both"), counted(predicted, "predicted"),
          counted(actual, "actual")};
}

ValueId either(MeasureContext& c, const Counts& n) { return c.emit("add", {n.predicted, n.actual}, {}, "sizes"); }

MetricDef counted_metric(const std::string& name, const std::string& doc,
                         std::function<ValueId(MeasureContext&, const Counts&)> numerator,
                         std::function<ValueId(MeasureContext&, const Counts&)> denominator) {
  return {.name = name,
          .doc = doc,
          .inputs = class_inputs(),
          .higher_is_better = true,
          .settings = {ignore_setting(),
                       {.name = "class", .doc = "the class that is looked at"},
                       {.name = "average",
                        .type = SettingType::text,
                        .doc = "micro: all classes together",
                        .fallback = std::string()}},
          .classes = true,
          .numerator = [numerator](MeasureContext& c) { return numerator(c, counts(c)); },
          .denominator = [denominator](MeasureContext& c) { return denominator(c, counts(c)); }};
}

ValueId both(MeasureContext&, const Counts& n) { return n.both; }

const RegisterMetric precision(counted_metric("precision", "share of the rows predicted as the class that are of it",
                                              both, [](MeasureContext&, const Counts& n) { return n.predicted; }));
const RegisterMetric recall(counted_metric("recall", "share of the class's rows that are predicted as it", both,
                                           [](MeasureContext&, const Counts& n) { return n.actual; }));
const RegisterMetric f1(counted_metric(
    "f1", "harmonic mean of precision and recall",
    [](MeasureContext& c, const Counts& n) {
      return c.emit("add", {n.both, n.both}, {}, "twice");
    },
    either));
const RegisterMetric iou(counted_metric("iou", "rows of the class predicted as it over rows that are one of the two",
                                        both, [](MeasureContext& c, const Counts& n) {
                                          return c.emit("sub", {either(c, n), n.both}, {}, "union");
                                        }));

}  // namespace
}  // namespace heddle::frontend
