#include "frontend/metrics/confusion.h"

#include "frontend/metrics/counts.h"

namespace heddle::frontend {

using ir::Dims;
using ir::ValueId;

namespace {

// A product of what is 1 where the row is of the class, and where it is predicted as it: [rows, classes] each.
ValueId of_classes(MeasureContext& c) {
  const Dims dims = c.b.type(c.in[0]).dims;
  const Dims matrix = {c.b.type(c.in[0]).elements() / dims.back(), dims.back()};
  const auto rows = [&](ValueId hits, const std::string& what) {
    c.b.prefix = c.name + "." + what + "_rows";
    return c.b.reshape(as_number(c, hits, what), matrix);
  };
  const ValueId valid =
      c.emit("broadcast", {valid_rows(c)}, {{"shape", dims}, {"dims", leading_axes(dims)}}, "spread_valid");
  const ValueId actual = rows(c.emit("and", {label_hits(c), valid}, {}, "actual"), "actual");
  const ValueId best = c.emit("argmax", {c.in[0]}, {{"axis", int64_t{-1}}});
  const ValueId predicted = rows(class_hits(c, best, "predicted"), "predicted");
  return c.emit("matmul", {actual, predicted}, {{"transpose_a", true}}, "counts");
}

// Neither, found alone; there alone, both.
ValueId of_labels(MeasureContext& c) {
  const Labels l = read_labels(c);
  const ValueId not_found = c.emit("not", {l.predicted}, {}, "not_found");
  const ValueId not_there = c.emit("not", {l.actual}, {}, "not_there");
  ir::Values counts;
  const auto add = [&](ValueId actual, ValueId predicted, const std::string& what) {
    const ValueId is = c.emit("and", {c.emit("and", {actual, predicted}, {}, what), l.valid}, {}, what + "_counts");
    c.b.prefix = c.name + "." + what + "_element";
    counts.push_back(c.b.reshape(sum_of(c, as_number(c, is, what), {}, what + "_count"), {1}));
  };
  add(not_there, not_found, "neither");
  add(not_there, l.predicted, "extra");
  add(l.actual, not_found, "missed");
  add(l.actual, l.predicted, "both");
  c.b.prefix = c.name + ".counts";
  return c.b.reshape(c.emit("concat", counts, {{"axis", int64_t{0}}}, "all_counts"), {2, 2});
}

std::vector<MetricState> states_of_classes(MeasureContext& c) {
  check_classes(c);
  const int64_t classes = c.b.type(c.in[0]).dims.back();
  return {{"matrix", {classes, classes}}};
}

}  // namespace

std::vector<MetricState> confusion_states(MeasureContext& c) {
  if (!has_threshold(c)) {
    check_class_scores(c);
    return states_of_classes(c);
  }
  if (read_labels(c).labels != 1)
    c.settings.fail("threshold", "a row has several labels, and this is of one",
                    "slice one of them from the scores and from the labels");
  return {{"matrix", {2, 2}}};
}

ir::Values next_confusion(MeasureContext& c, const ir::Values& old) {
  return with_batch(c, old, {has_threshold(c) ? of_labels(c) : of_classes(c)});
}

MetricDef agreement_metric(std::string name, std::string doc, std::function<ValueId(MeasureContext&)> finish) {
  return {.name = std::move(name),
          .doc = std::move(doc),
          .inputs = class_inputs(),
          .higher_is_better = true,
          .settings = {ignore_setting(), threshold_setting()},
          .classes = true,
          .states = confusion_states,
          .next = next_confusion,
          .finish = std::move(finish)};
}

namespace {

// A result is computed: a state itself is none.
ValueId finish(MeasureContext& c) {
  c.b.prefix = c.name + ".one";
  return c.emit("mul", {c.in[0], c.b.like(1, c.in[0])}, {}, "counts");
}

const RegisterMetric confusion({.name = "confusion",
                                .doc = "how many rows of class i (a line) were predicted as class j (a column)",
                                .inputs = class_inputs(),
                                .settings = {ignore_setting()},
                                .classes = true,
                                .states = states_of_classes,
                                .next = [](MeasureContext& c,
                                           const ir::Values& old) { return with_batch(c, old, {of_classes(c)}); },
                                .finish = finish});

}  // namespace
}  // namespace heddle::frontend
