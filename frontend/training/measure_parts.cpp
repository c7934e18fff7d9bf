#include "frontend/training/measure_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "frontend/layer_context.h"

namespace heddle::frontend {

using ir::Dims;
using ir::ValueId;

std::vector<std::string> class_inputs() { return {"logits", "labels"}; }
std::vector<std::string> pair_inputs() { return {"predicted", "target"}; }

namespace {

constexpr int64_t kIgnored = -100;  // a label that does not count, where nothing is said

Dims dims_of(MeasureContext& c, size_t input) { return c.b.type(c.in[input]).dims; }

void check_same_shape(MeasureContext& c) {
  if (dims_of(c, 0) == dims_of(c, 1)) return;
  c.fail(fmt::format("shapes differ: {} vs {}", c.shape_text(dims_of(c, 0)), c.shape_text(dims_of(c, 1))),
         "insert a reshape: nothing is broadcast here");
}

ValueId constant(MeasureContext& c, double value, const ir::Type& type, const std::string& what) {
  c.b.prefix = fmt::format("{}.{}", c.name, what);
  return c.b.constant(value, type);
}
ValueId zero_like(MeasureContext& c, ValueId v, const std::string& what) {
  return constant(c, 0, c.b.type(v), what + ".zero");
}

// All ones where there are no weights.
ValueId spread_class_weights(MeasureContext& c) {
  if (has_class_weights(c)) return spread_class_numbers(c, "class_weights");
  return constant(c, 1, {ir::DType::f32, dims_of(c, 0)}, "class_weight");
}

// With the weight of the label's class, which is 0 where no class is the label.
ValueId weights_of_labels(MeasureContext& c, ValueId of_valid) {
  if (!has_class_weights(c)) return of_valid;
  const ValueId weights = spread_class_weights(c);
  const ValueId picked = c.emit("select", {label_hits(c), weights, zero_like(c, weights, "picked")}, {}, "picked");
  const ValueId own = sum_of(c, picked, last_axis(dims_of(c, 0)), "label_weight");
  return c.emit("mul", {of_valid, own}, {}, "row_weight");
}

}  // namespace

ValueId weights_of_valid(MeasureContext& c) {
  const ValueId valid = as_number(c, valid_rows(c), "valid");
  if (!c.weights.valid()) return valid;
  return c.emit("mul", {valid, spread_weights(c, c.b.type(valid).dims)}, {}, "weighted_valid");
}

ValueId infinite_where_unknown(MeasureContext& c, ValueId row, ValueId hits) {
  const ValueId found = sum_of(c, as_number(c, hits, "hits"), last_axis(dims_of(c, 0)), "found");
  const ValueId unknown = c.emit("eq", {found, zero_like(c, found, "found")}, {}, "unknown");
  const ValueId lost = c.emit("and", {valid_rows(c), unknown}, {}, "lost");
  const ValueId infinite = constant(c, std::numeric_limits<double>::infinity(), c.b.type(row), "infinite");
  return c.emit("select", {lost, infinite, row}, {}, "row_or_infinite");
}

ValueId like(MeasureContext& c, double value, ValueId v) {
  c.b.prefix = c.name + ".constant";
  return c.b.like(value, v);
}

// A piece for each run of equal numbers.
ValueId class_numbers(MeasureContext& c, const std::string& setting) {
  const std::vector<double> numbers = c.settings.reals(setting);
  const ir::DType dtype = c.b.type(c.in[0]).dtype;
  ir::Values pieces;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i;
    while (end < numbers.size() && numbers[end] == numbers[i]) ++end;
    pieces.push_back(constant(c, numbers[i], {dtype, {static_cast<int64_t>(end - i)}}, setting + ".piece"));
    i = end;
  }
  return pieces.size() == 1 ? pieces[0] : c.emit("concat", pieces, {{"axis", int64_t{0}}}, setting);
}
bool has_class_weights(const MeasureContext& c) { return c.settings.json("class_weights") != nullptr; }

Dims leading_axes(const Dims& dims) {
  Dims axes;
  for (int64_t i = 0; i + 1 < std::ssize(dims); ++i) axes.push_back(i);
  return axes;
}
Dims last_axis(const Dims& dims) { return {std::ssize(dims) - 1}; }

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
  const int64_t ignored = c.settings.integer("ignore_index");
  if (ignored < std::numeric_limits<int32_t>::min() || ignored > std::numeric_limits<int32_t>::max())
    c.settings.fail("ignore_index", fmt::format("'ignore_index' is not an i32: {}", ignored));
}

void check_values(MeasureContext& c) {
  const ir::Type a = c.b.type(c.in[0]), b = c.b.type(c.in[1]);
  if (!ir::is_floating(a.dtype) || a.dtype != b.dtype) {
    c.fail(fmt::format("expected two floating-point values of one type, found {} and {}", ir::to_string(a.dtype),
                       ir::to_string(b.dtype)),
           fmt::format("give the target's input \"dtype\": \"{0}\", or insert {{\"op\": \"cast\", \"dtype\": \"{0}\"}}",
                       ir::to_string(ir::is_floating(a.dtype) ? a.dtype : ir::DType::f32)));
  }
  check_same_shape(c);
}

void check_target_types(MeasureContext& c) {
  const ir::DType predicted = c.b.type(c.in[0]).dtype, target = c.b.type(c.in[1]).dtype;
  const bool known = target == predicted || target == ir::DType::i32 || target == ir::DType::boolean;
  if (!ir::is_floating(predicted) || !known) {
    c.fail(fmt::format("expected a floating-point value and targets of its type, i32 or bool, found {} and {}",
                       ir::to_string(predicted), ir::to_string(target)),
           fmt::format("give the target's input \"dtype\": \"i32\", or insert {{\"op\": \"cast\", \"dtype\": \"{}\"}}",
                       ir::to_string(ir::is_floating(predicted) ? predicted : ir::DType::f32)));
  }
}

ValueId check_targets(MeasureContext& c) {
  check_target_types(c);
  check_same_shape(c);
  c.b.prefix = c.name + ".target";
  return c.b.cast(c.in[1], c.b.type(c.in[0]).dtype);
}

void check_class_weights(MeasureContext& c) {
  if (!has_class_weights(c)) return;
  check_class_numbers(c, "class_weights");
  if (std::ranges::all_of(c.settings.reals("class_weights"), [](double weight) { return weight == 0; }))
    c.settings.fail("class_weights", "'class_weights' is 0 for every class: nothing counts", "1 is a class as it is");
}

void check_class_numbers(MeasureContext& c, const std::string& setting) {
  const std::vector<double> numbers = c.settings.reals(setting);
  const Dims dims = dims_of(c, 0);
  if (dims.size() < 2)
    c.settings.fail(setting, fmt::format("'{}' is a list, and {} has no axis of classes", setting, c.shape_text(dims)),
                    "write one number");
  if (std::ssize(numbers) != dims.back())
    c.settings.fail(setting, fmt::format("'{}' takes a number for each of the {} classes, got {}", setting, dims.back(),
                                         numbers.size()));
  const Json& given = *c.settings.json(setting);
  for (size_t i = 0; i < numbers.size(); ++i)
    if (!(numbers[i] >= 0 && fits(numbers[i], ir::DType::f32)))
      throw UserError(
          given.kind == Json::Kind::list ? given.items[i].where : given.where,
          fmt::format("{}: '{}' must be f32 and not negative, got {}", c.settings.title(), setting, numbers[i]));
}

ValueId spread_class_numbers(MeasureContext& c, const std::string& setting) {
  const Dims dims = dims_of(c, 0);
  return c.emit("broadcast", {class_numbers(c, setting)}, {{"shape", dims}, {"dims", last_axis(dims)}},
                "spread_" + setting);
}

Key ignore_setting() {
  return {.name = "ignore_index", .doc = "the label of rows that do not count", .fallback = kIgnored};
}
Key class_weights_setting() {
  return {.name = "class_weights",
          .type = KeyType::real,
          .count = Count::several,
          .doc = "what a row of each class weighs: all 1"};
}

ValueId as_number(MeasureContext& c, ValueId condition, const std::string& what) {
  return c.emit("cast", {condition}, {{"dtype", std::string("f32")}}, what + "_as_number");
}

ValueId sum_of(MeasureContext& c, ValueId v, const Dims& axes, const std::string& what) {
  return c.emit("reduce_sum", {v}, {{"axes", axes}}, what);
}

ValueId valid_rows(MeasureContext& c) {
  const auto ignored = static_cast<double>(c.settings.integer("ignore_index"));
  return c.emit("ne", {c.in[1], constant(c, ignored, c.b.type(c.in[1]), "ignored")}, {}, "valid");
}

ValueId valid_labels(MeasureContext& c) { return sum_of(c, as_number(c, valid_rows(c), "valid"), {}, "reduce_sum"); }

ValueId label_hits(MeasureContext& c) { return class_hits(c, c.in[1], "labels"); }

ValueId class_hits(MeasureContext& c, ValueId numbers, const std::string& what) {
  const Dims& dims = dims_of(c, 0);
  const ValueId classes = c.emit("iota", {}, {{"axis", std::ssize(dims) - 1}, {"shape", dims}}, "classes");
  const ValueId spread =
      c.emit("broadcast", {numbers}, {{"shape", dims}, {"dims", leading_axes(dims)}}, "spread_" + what);
  return c.emit("eq", {classes, spread}, {}, "hits");
}

ValueId ratio(MeasureContext& c, ValueId sum, ValueId count) {
  const ValueId nothing = c.emit("eq", {count, zero_like(c, count, "count")}, {}, "is_nothing");
  const ValueId one = constant(c, 1, c.b.type(count), "one");
  return c.emit("div", {sum, c.emit("select", {nothing, one, count}, {}, "divisor")}, {}, "mean");
}

ValueId wide(ir::Builder& b, ValueId v) {
  b.prefix = b.graph[v].name + ".wide";
  return b.cast(v, ir::DType::f64);
}

ir::Values with_counted(ir::Builder& b, const std::string& name, const ir::Values& old, ValueId sum, ValueId count) {
  b.prefix = name + ".zero";
  const ValueId nothing = b("eq", {count, b.like(0, count)}, {}, name + ".nothing");
  b.prefix = name + ".wide_zero";
  const ValueId zero = b.constant(0, {ir::DType::f64, {}});
  const ValueId counted = b("select", {nothing, zero, wide(b, sum)}, {}, name + ".sum_of_counted");
  return {b("add", {old[0], counted}, {}, name + ".total.next"),
          b("add", {old[1], wide(b, count)}, {}, name + ".counted.next")};
}

ir::Values with_batch(MeasureContext& c, const ir::Values& old, const ir::Values& more) {
  ir::Values next;
  for (size_t i = 0; i < old.size(); ++i)
    next.push_back(c.b("add", {old[i], wide(c.b, more[i])}, {}, c.b.graph[old[i]].name + ".next"));
  return next;
}

MetricDef ratio_metric(MetricDef def, Measure numerator, Measure denominator, const std::string& finish) {
  def.states = [](MeasureContext&) { return std::vector<MetricState>{{"total"}, {"counted"}}; };
  def.next = [numerator = std::move(numerator), denominator = std::move(denominator)](MeasureContext& c,
                                                                                      const ir::Values& old) {
    const ValueId sum = numerator(c);
    c.b.graph.rename(sum, c.name + ".sum");
    const ValueId count = denominator(c);
    c.b.graph.rename(count, c.name + ".count");
    return with_counted(c.b, c.name, old, sum, count);
  };
  def.finish = [finish](MeasureContext& c) {
    const ValueId ratio = c.emit("div", c.in, {}, "ratio");
    return finish.empty() ? ratio : c.emit(finish, {ratio});
  };
  return def;
}

ValueId spread_weights(MeasureContext& c, const Dims& dims) {
  if (dims.size() == 1) return c.weights;
  return c.emit("broadcast", {c.weights}, {{"shape", dims}, {"dims", Dims{0}}}, "spread_weights");
}

ValueId mean_of_elements(MeasureContext& c, ValueId values) {
  if (!c.weights.valid()) return c.emit("reduce_mean", {values});
  c.b.prefix = c.name + ".values";
  const ValueId wide = c.b.cast(values, ir::DType::f32);
  const ValueId weighed = c.emit("mul", {wide, spread_weights(c, c.b.type(wide).dims)}, {}, "weighed");
  return ratio(c, sum_of(c, weighed, {}, "weighed_sum"), count_of_elements(c));
}

ValueId count_of_elements(MeasureContext& c) {
  const auto elements = static_cast<double>(c.b.type(c.in[0]).elements());
  if (!c.weights.valid()) return c.count(elements);
  const ValueId weight = sum_of(c, c.weights, {}, "weight_of_rows");
  return c.emit("mul", {weight, constant(c, elements / static_cast<double>(c.rows), c.b.type(weight), "row_size")}, {},
                "weight_of_elements");
}

ValueId count_of_labels(MeasureContext& c) {
  return sum_of(c, weights_of_labels(c, weights_of_valid(c)), {}, "weight_of_labels");
}

ValueId mean_of_labels(MeasureContext& c, ValueId log_probabilities, double smoothing) {
  const Dims classes = last_axis(dims_of(c, 0));
  c.b.prefix = c.name + ".log_probabilities";
  const ValueId logs = c.b.cast(log_probabilities, ir::DType::f32);
  const ValueId of_valid = weights_of_valid(c), weights = weights_of_labels(c, of_valid), hits = label_hits(c);
  const ValueId picked = c.emit("select", {hits, logs, zero_like(c, logs, "label_log")}, {}, "label_log_or_zero");
  const ValueId cost = c.emit("neg", {sum_of(c, picked, classes, "label_log")}, {}, "label_cost");
  ValueId row = c.emit("mul", {weights, cost}, {}, "row");
  if (smoothing > 0) {
    const auto share = smoothing / static_cast<double>(dims_of(c, 0).back());
    const ValueId each =
        has_class_weights(c) ? c.emit("mul", {logs, spread_class_weights(c)}, {}, "weighted_logs") : logs;
    const ValueId all = c.emit("mul", {of_valid, sum_of(c, each, classes, "log_sum")}, {}, "smooth");
    const ValueId smooth = c.emit("mul", {all, constant(c, -share, c.b.type(all), "share")}, {}, "smooth_row");
    const ValueId sharp = c.emit("mul", {row, constant(c, 1 - smoothing, c.b.type(row), "rest")}, {}, "sharp_row");
    row = c.emit("add", {sharp, smooth}, {}, "smoothed_row");
  }
  const ValueId sum = sum_of(c, infinite_where_unknown(c, row, hits), {}, "row_sum");
  return ratio(c, sum, sum_of(c, weights, {}, "row_weights"));
}

}  // namespace heddle::frontend
