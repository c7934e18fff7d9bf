// accuracy: the share of right rows by their largest logit, of right labels by a threshold, or of rows with only right
// labels.
#include "frontend/metrics/counts.h"
#include "frontend/training/product_logits.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

ValueId correct(MeasureContext& c) {
  check_class_scores(c);
  check_classes(c);
  if (const auto product = product_logits(c)) return among_the_best(c, *product, 1);
  const ValueId best = c.emit("argmax", {c.in[0]}, {{"axis", int64_t{-1}}});
  const ValueId hits = c.emit("and", {c.emit("eq", {best, c.in[1]}, {}, "equal"), valid_rows(c)}, {}, "hits");
  return sum_of(c, as_number(c, hits, "hits"), {}, "reduce_sum");
}

// rows - (predicted + actual - 2 both)
ValueId right(MeasureContext& c, const Counts& n) {
  const ValueId sizes = c.emit("add", {n.predicted, n.actual}, {}, "sizes");
  const ValueId wrong = c.emit("sub", {sizes, c.emit("add", {n.both, n.both}, {}, "twice")}, {}, "wrong");
  return c.emit("sub", {n.rows, wrong}, {}, "right");
}
ValueId all(MeasureContext&, const Counts& n) { return n.rows; }
constexpr CountRatio kOfLabels{right, all, /*needs_rows=*/true};

// Rows all of whose labels that count are right, and rows in which a label counts: scikit-learn's accuracy_score.
ir::Values subset(MeasureContext& c, const ir::Values& old) {
  const Labels l = read_labels(c);
  const ir::Dims last = last_axis(l.dims);
  const auto count = [&](ValueId condition, const std::string& what) {
    return sum_of(c, as_number(c, condition, what), last, what + "_labels");
  };
  const ValueId differ = c.emit("xor", {l.predicted, l.actual}, {}, "differ");
  const ValueId wrong = count(c.emit("and", {differ, l.valid}, {}, "counted_differ"), "wrong");
  const ValueId counted = count(l.valid, "counted");
  c.b.prefix = c.name + ".none";
  const ValueId none = c.b.like(0, wrong);
  const ValueId counts = c.emit("gt", {counted, none}, {}, "row_counts");
  const ValueId is_right = c.emit("and", {c.emit("eq", {wrong, none}, {}, "none_wrong"), counts}, {}, "row_is_right");
  return with_batch(c, old,
                    {sum_of(c, as_number(c, is_right, "right"), {}, "right_rows"),
                     sum_of(c, as_number(c, counts, "all"), {}, "all_rows")});
}

bool asks_subset(const MeasureContext& c) { return c.settings.flag("subset"); }

std::vector<MetricState> states(MeasureContext& c) {
  if (!has_threshold(c)) {
    for (const char* name : {"subset", "average", "class"})
      if (c.settings.json(name) != nullptr && (name != std::string_view("subset") || asks_subset(c)))
        c.settings.fail(
            name, std::string("'") + name + "' is of labels, which a 'threshold' makes of scores",
            "of classes leave it out; the mean over classes is {\"op\": \"recall\", \"average\": \"macro\"}");
    return {{"total"}, {"counted"}};
  }
  if (!asks_subset(c)) return label_states(c, kOfLabels);
  if (read_labels(c).labels == 1)
    c.settings.fail("subset", "a row has one label: its subset is the label", "leave out 'subset'");
  for (const char* name : {"average", "class"})
    if (c.settings.json(name) != nullptr)
      c.settings.fail(name, std::string("a subset has no '") + name + "'",
                      std::string("leave out '") + name + "' or 'subset'");
  return {{"total"}, {"counted"}};
}

MetricDef make() {
  MetricDef def = ratio_metric(
      {.name = "accuracy",
       .doc =
           "share of rows whose largest logit is the label's, the lowest index wins ties; with a threshold, of labels",
       .inputs = class_inputs(),
       .higher_is_better = true,
       .settings = {ignore_setting(),
                    threshold_setting(),
                    {.name = "class", .doc = "the label that is looked at, of several that a threshold makes"},
                    average_setting(),
                    {.name = "subset",
                     .type = KeyType::flag,
                     .doc = "a row counts where all of its labels are right, as in scikit-learn's accuracy_score",
                     .fallback = false}},
       .classes = true,
       .chunks = true},
      correct, valid_labels);
  def.states = states;
  def.next = [of_classes = def.next](MeasureContext& c, const ir::Values& old) {
    if (!has_threshold(c)) return of_classes(c, old);
    return asks_subset(c) ? subset(c, old) : next_labels(c, kOfLabels, old);
  };
  def.finish = [of_two = def.finish](MeasureContext& c) {
    return has_threshold(c) && !asks_subset(c) ? finish_counts(c, kOfLabels) : of_two(c);
  };
  return def;
}

const RegisterMetric accuracy(make());

}  // namespace
}  // namespace heddle::frontend
