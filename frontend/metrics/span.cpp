// span_f1 and span_exact_match: answers that are a piece of a text, from a first place to a last one, as SQuAD measures
// them (Rajpurkar et al. 2016), places in the place of words.
//
//   predicted 3 to 6, labels 5 to 6   ->   2 places in common, F1 = 2 * 2 / (4 + 2)
#include <fmt/format.h>

#include <limits>

#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::DType;
using ir::ValueId;

constexpr const char* kInputs =
    "'in' is logits of the first places [N, T], of the last places [N, T], and the labels of both, i32 [N]";

struct Span {
  ValueId first, last;  // i32[N]
};

void check(MeasureContext& c) {
  const ir::Type first = c.b.type(c.in[0]), last = c.b.type(c.in[1]);
  const bool logits = ir::is_floating(first.dtype) && first.dims.size() == 2;
  const bool numbers = first.dtype == DType::i32 && first.dims.size() == 1;
  if (!logits && !numbers)
    c.fail(fmt::format("expected logits [N, T], or places i32 [N], found {}{}", ir::to_string(first.dtype),
                       c.shape_text(first.dims)),
           kInputs);
  if (first != last)
    c.fail(fmt::format("first and last places differ: {}{} and {}{}", ir::to_string(first.dtype),
                       c.shape_text(first.dims), ir::to_string(last.dtype), c.shape_text(last.dims)),
           kInputs);
  for (const size_t input : {size_t{2}, size_t{3}}) {
    const ir::Type& type = c.b.type(c.in[input]);
    if (type.dtype != DType::i32 || type.dims != Dims{first.dims[0]})
      c.fail(fmt::format("expected labels i32{}, found {}{}", c.shape_text({first.dims[0]}), ir::to_string(type.dtype),
                         c.shape_text(type.dims)),
             kInputs);
  }
  const int64_t ignored = c.settings.integer("ignore_index");
  if (ignored < std::numeric_limits<int32_t>::min() || ignored > std::numeric_limits<int32_t>::max())
    c.settings.fail("ignore_index", fmt::format("'ignore_index' is not an i32: {}", ignored));
  if (numbers && c.settings.json("max_length") != nullptr)
    c.settings.fail("max_length", "'max_length' is of logits, and places are given", "leave it out");
}

// Whether a span may be from `first` to `last`, both i32 of one shape.
ValueId allowed(MeasureContext& c, ValueId first, ValueId last) {
  const ValueId length = c.emit("sub", {last, first}, {}, "length_less_one");
  const ValueId in_order = c.emit("ge", {length, like(c, 0, length)}, {}, "in_order");
  if (c.settings.json("max_length") == nullptr) return in_order;
  const ValueId most = like(c, static_cast<double>(c.settings.integer("max_length")), length);
  return c.emit("and", {in_order, c.emit("lt", {length, most}, {}, "short_enough")}, {}, "allowed");
}

// The two places with the largest sum of logits, the last one not before the first; of equals the first ones.
Span best(MeasureContext& c) {
  const ValueId firsts = c.in[0], lasts = c.in[1];
  const ir::Type type = c.b.type(firsts);
  const Dims pairs{type.dims[0], type.dims[1], type.dims[1]};
  const auto spread = [&](ValueId v, const Dims& axes, const std::string& what) {
    return c.emit("broadcast", {v}, {{"shape", pairs}, {"dims", axes}}, what);
  };
  const auto place = [&](int64_t axis, const Dims& shape, const std::string& what) {
    return c.emit("iota", {}, {{"axis", axis}, {"shape", shape}}, what);
  };
  const double least = -std::numeric_limits<double>::infinity();
  const ValueId of_last = spread(lasts, {0, 2}, "last_logits");
  const ValueId may = allowed(c, place(1, pairs, "first_places"), place(2, pairs, "last_places"));
  const ValueId candidates = c.emit("select", {may, of_last, like(c, least, of_last)}, {}, "candidates");
  const ValueId best_last = c.emit("reduce_max", {candidates}, {{"axes", Dims{2}}}, "best_last_logit");
  const ValueId sums = c.emit("add", {firsts, best_last}, {}, "sums");
  const ValueId first = c.emit("argmax", {sums}, {{"axis", int64_t{1}}}, "first");
  const ValueId column = place(1, type.dims, "places");
  const ValueId from = c.emit("broadcast", {first}, {{"shape", type.dims}, {"dims", Dims{0}}}, "first_of_row");
  const ValueId follows = allowed(c, from, column);
  const ValueId rest = c.emit("select", {follows, lasts, like(c, least, lasts)}, {}, "rest");
  return {first, c.emit("argmax", {rest}, {{"axis", int64_t{1}}}, "last")};
}

struct Spans {
  Span predicted, labels;
  ValueId counts;  // bool[N]
};

Spans read(MeasureContext& c) {
  check(c);
  const Span labels{c.in[2], c.in[3]};
  const bool logits = c.b.type(c.in[0]).dims.size() == 2;
  const auto counts = [&](ValueId v, const std::string& what) {
    return c.emit("ne", {v, like(c, static_cast<double>(c.settings.integer("ignore_index")), v)}, {}, what);
  };
  const ValueId both =
      c.emit("and", {counts(labels.first, "first_counts"), counts(labels.last, "last_counts")}, {}, "counts");
  return {logits ? best(c) : Span{c.in[0], c.in[1]}, labels, both};
}

// The sum over rows that count, and how many they are.
ir::Values with_rows(MeasureContext& c, const ir::Values& old, ValueId values, ValueId counts) {
  const ValueId counted = c.emit("select", {counts, values, like(c, 0, values)}, {}, "counted");
  return with_batch(c, old, {sum_of(c, counted, {}, "sum"), sum_of(c, as_number(c, counts, "rows"), {}, "rows")});
}

// How many places a span has; none where its last one is before its first one.
ValueId length(MeasureContext& c, const Span& s, const std::string& what) {
  const ValueId steps = c.emit("sub", {s.last, s.first}, {}, what + "_steps");
  const ValueId length = c.emit("add", {steps, like(c, 1, steps)}, {}, what + "_length");
  return c.emit("max", {length, like(c, 0, length)}, {}, what + "_places");
}

ir::Values next_f1(MeasureContext& c, const ir::Values& old) {
  const Spans s = read(c);
  const ValueId first = c.emit("max", {s.predicted.first, s.labels.first}, {}, "common_first");
  const ValueId last = c.emit("min", {s.predicted.last, s.labels.last}, {}, "common_last");
  const ValueId common = length(c, {first, last}, "common");
  const ValueId both =
      c.emit("add", {length(c, s.predicted, "predicted"), length(c, s.labels, "labels")}, {}, "places_of_both");
  const auto number = [&](ValueId v, const std::string& what) {
    return c.emit("cast", {v}, {{"dtype", std::string("f64")}}, what + "_f64");
  };
  const ValueId of_both = number(both, "places");
  const ValueId divisor = c.emit("max", {of_both, like(c, 1, of_both)}, {}, "divisor");
  const ValueId twice = number(c.emit("add", {common, common}, {}, "twice"), "twice");
  const ValueId ratio = c.emit("div", {twice, divisor}, {}, "ratio");
  // Two empty spans are one answer.
  const ValueId empty = c.emit("eq", {both, like(c, 0, both)}, {}, "both_empty");
  return with_rows(c, old, c.emit("select", {empty, like(c, 1, ratio), ratio}, {}, "f1"), s.counts);
}

ir::Values next_exact(MeasureContext& c, const ir::Values& old) {
  const Spans s = read(c);
  const ValueId first = c.emit("eq", {s.predicted.first, s.labels.first}, {}, "first_is_right");
  const ValueId last = c.emit("eq", {s.predicted.last, s.labels.last}, {}, "last_is_right");
  return with_rows(c, old, as_number(c, c.emit("and", {first, last}, {}, "right"), "right"), s.counts);
}

MetricDef span(const std::string& name, const std::string& doc,
               ir::Values (*next)(MeasureContext&, const ir::Values&)) {
  return {.name = name,
          .doc = doc,
          .inputs = {"first_logits", "last_logits", "first_labels", "last_labels"},
          .higher_is_better = true,
          .settings = {ignore_setting(),
                       {.name = "max_length", .doc = "places of the longest answer", .range = ir::at_least(1)}},
          .states =
              [](MeasureContext& c) {
                check(c);
                return std::vector<MetricState>{{"total"}, {"counted"}};
              },
          .next = next,
          .finish = [](MeasureContext& c) { return c.emit("div", c.in, {}, "mean"); }};
}

const RegisterMetric f1(span("span_f1",
                             "mean over rows of F1 of the places that the predicted span and the labels' share",
                             next_f1));
const RegisterMetric exact(span("span_exact_match", "share of rows whose first and last place are both right",
                                next_exact));

}  // namespace
}  // namespace heddle::frontend
