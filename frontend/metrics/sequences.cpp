#include "frontend/metrics/sequences.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "frontend/training/measure_parts.h"

namespace heddle::frontend {

using ir::Dims;
using ir::DType;
using ir::ValueId;

namespace {

constexpr const char* kInputs = "'in' is what is predicted, labels, and where given the lengths of both, i32 [N]";
constexpr size_t kPredictedLengths = 2, kLabelLengths = 3;

bool is_logits(const MeasureContext& c) { return c.b.type(c.in[0]).dims.size() == 3; }

// Each label has logits of its own.
bool is_aligned(const MeasureContext& c) { return is_logits(c) && !merges_steps(c); }

void check_i32(MeasureContext& c, const std::string& setting) {
  if (!c.settings.has(setting)) return;
  const int64_t number = c.settings.integer(setting);
  if (number < std::numeric_limits<int32_t>::min() || number > std::numeric_limits<int32_t>::max())
    c.settings.fail(setting, fmt::format("'{}' is not an i32: {}", setting, number));
}

ValueId both(MeasureContext& c, ValueId a, ValueId b, const std::string& what) {
  return c.emit("and", {a, b}, {}, what);
}

// Another number would never be found, and end nothing.
void check_end(MeasureContext& c) {
  check_i32(c, "end");
  if (c.settings.json("end") == nullptr || !is_logits(c)) return;
  const int64_t end = c.settings.integer("end"), classes = c.b.type(c.in[0]).dims.back();
  if (end < 0 || end >= classes)
    c.settings.fail("end", fmt::format("'end' must lie in [0, {}), is {}", classes, end),
                    "it is the class of the token that ends a row");
}

// In front of the length that an input says.
ValueId with_length(MeasureContext& c, ValueId kept, size_t input, const std::string& what) {
  if (!c.has(input)) return kept;
  const Dims dims = c.b.type(kept).dims;
  const ValueId length = along_row(c, c.in[input], dims[1], what + "_spread_length");
  const ValueId place = c.emit(
      "iota", {},
      {{"axis", int64_t{1}}, {"shape", dims}, {"dtype", std::string(ir::to_string(c.b.type(c.in[input]).dtype))}},
      what + "_place");
  return both(c, kept, c.emit("lt", {place, length}, {}, what + "_before_length"), what + "_within_length");
}

// In front of the first "end" that counts.
ValueId before_end(MeasureContext& c, ValueId ids, ValueId kept, const std::string& what) {
  if (c.settings.json("end") == nullptr) return kept;
  const auto end = static_cast<double>(c.settings.integer("end"));
  const ValueId is_end = both(c, c.emit("eq", {ids, like(c, end, ids)}, {}, what + "_equals_end"), kept, what + "_end");
  const ValueId number = c.emit("cast", {is_end}, {{"dtype", std::string("i32")}}, what + "_end_number");
  const ValueId so_far = c.emit("cumsum", {number}, {{"axis", int64_t{1}}}, what + "_ends");
  return both(c, kept, c.emit("eq", {so_far, like(c, 0, so_far)}, {}, what + "_before_end"), what + "_in_front");
}

ValueId not_ignored(MeasureContext& c, ValueId ids, const std::string& what) {
  const auto ignored = static_cast<double>(c.settings.integer("ignore_index"));
  return c.emit("ne", {ids, like(c, ignored, ids)}, {}, what + "_not_ignored");
}

// Of i32 0 and 1, in each row.
ValueId count_of(MeasureContext& c, ValueId condition, const std::string& what) {
  const ValueId number = c.emit("cast", {condition}, {{"dtype", std::string("i32")}}, what + "_number");
  return sum_of(c, number, {1}, what);
}

}  // namespace

std::vector<std::string> sequence_inputs() { return {"predicted", "labels"}; }
std::vector<std::string> sequence_lengths() { return {"predicted_lengths", "label_lengths"}; }

std::vector<Key> sequence_settings() {
  return {
      ignore_setting(), {.name = "end", .doc = "the token that ends a sequence, and is not of it"}, decode_setting()};
}

void check_sequences(MeasureContext& c) {
  const ir::Type predicted = c.b.type(c.in[0]), labels = c.b.type(c.in[1]);
  const bool steps = ir::is_floating(predicted.dtype) && predicted.dims.size() == 3;
  const bool ids = predicted.dtype == DType::i32 && predicted.dims.size() == 2;
  if (!steps && !ids)
    c.fail(fmt::format("expected logits [N, T, classes], or class numbers i32 [N, T], found {}{}",
                       ir::to_string(predicted.dtype), c.shape_text(predicted.dims)),
           kInputs);
  if (labels.dtype != DType::i32)
    c.fail(fmt::format("expected labels of type i32, found {}", ir::to_string(labels.dtype)),
           "give the label's input \"dtype\": \"i32\"; an input without a dtype is f32");
  if (labels.dims.size() != 2 || labels.dims[0] != predicted.dims[0])
    c.fail(fmt::format("labels {} do not match {}: expected a row of tokens for each of its rows",
                       c.shape_text(labels.dims), c.shape_text(predicted.dims)),
           kInputs);
  if (is_aligned(c) && predicted.dims[1] != labels.dims[1])
    c.fail(fmt::format("{} has logits of {} steps, labels have {} tokens", c.shape_text(predicted.dims),
                       predicted.dims[1], labels.dims[1]),
           "\"decode\": {\"op\": \"ctc_greedy\", \"blank\": 0} makes of steps as many tokens as there are");
  for (const size_t input : {kPredictedLengths, kLabelLengths}) {
    if (!c.has(input)) continue;
    const ir::Type& type = c.b.type(c.in[input]);
    if ((type.dtype == DType::i32 || type.dtype == DType::i64) && type.dims == Dims{predicted.dims[0]}) continue;
    c.fail(fmt::format("expected lengths of type i32 {}, found {}{}", c.shape_text({predicted.dims[0]}),
                       ir::to_string(type.dtype), c.shape_text(type.dims)),
           kInputs);
  }
  check_i32(c, "ignore_index");
  check_end(c);
  merges_steps(c);  // looks at "decode"
}

SequencePair read_sequences(MeasureContext& c) {
  check_sequences(c);
  const ValueId labels = c.in[1];
  const ValueId not_ignored_labels = not_ignored(c, labels, "labels");
  const ValueId counted = with_length(c, not_ignored_labels, kLabelLengths, "labels");
  const ValueId reference = before_end(c, labels, counted, "labels");
  Tokens tokens = decoded(c);
  tokens.kept = with_length(c, tokens.kept, kPredictedLengths, "tokens");
  if (is_aligned(c)) tokens.kept = both(c, tokens.kept, counted, "tokens_of_labels");
  if (!is_logits(c)) tokens.kept = both(c, tokens.kept, not_ignored(c, tokens.ids, "tokens"), "tokens_counted");
  tokens.kept = before_end(c, tokens.ids, tokens.kept, "tokens");
  SequencePair pair;
  pair.predicted = compacted(c, tokens.ids, tokens.kept, "predicted");
  pair.reference = compacted(c, labels, reference, "reference");
  // A target may be empty: that is said by its length, or by an end in front of all else.
  const ValueId any = count_of(c, not_ignored_labels, "labels_counted");
  pair.counts = c.emit("gt", {any, like(c, 0, any)}, {}, "row_counts");
  if (c.has(kLabelLengths)) {
    c.b.prefix = c.name + ".every_row";
    pair.counts = c.b.constant(1, {DType::boolean, c.b.type(any).dims});
  }
  return pair;
}

ValueId places(MeasureContext& c, int64_t rows, int64_t size) {
  return c.emit("iota", {}, {{"axis", int64_t{1}}, {"shape", Dims{rows, size}}}, "places");
}

MetricDef mean_of_sequences(std::string name, std::string doc,
                            std::function<ir::Values(MeasureContext&, const ir::Values& old)> next) {
  return {.name = std::move(name),
          .doc = std::move(doc),
          .inputs = sequence_inputs(),
          .optional = sequence_lengths(),
          .higher_is_better = true,
          .settings = sequence_settings(),
          .states =
              [](MeasureContext& c) {
                check_sequences(c);
                return std::vector<MetricState>{{"total"}, {"counted"}};
              },
          .next = std::move(next),
          .finish = [](MeasureContext& c) { return c.emit("div", c.in, {}, "ratio"); }};
}

ValueId along_row(MeasureContext& c, ValueId v, int64_t size, const std::string& what) {
  return c.emit("broadcast", {v}, {{"shape", Dims{c.b.type(v).dims[0], size}}, {"dims", Dims{0}}}, what);
}

ValueId inside(MeasureContext& c, const Sequence& s, const std::string& what) {
  const int64_t rows = c.b.type(s.length).dims[0];
  return c.emit("lt", {places(c, rows, s.size), along_row(c, s.length, s.size, what + "_length")}, {}, what);
}

ValueId moved_right(MeasureContext& c, ValueId v, int64_t by, double fill, const std::string& what) {
  const Dims dims = c.b.type(v).dims;
  const ValueId front =
      c.emit("slice", {v}, {{"starts", Dims{0, 0}}, {"limits", Dims{dims[0], dims[1] - by}}}, what + "_front");
  return c.emit("pad", {front}, {{"low", Dims{0, by}}, {"high", Dims{0, 0}}, {"fill", fill}}, what);
}

// A stable order of what is left out: 0 where it is kept.
Sequence compacted(MeasureContext& c, ValueId values, ValueId kept, const std::string& what) {
  const Dims dims = c.b.type(values).dims;
  const ValueId out = c.emit("not", {kept}, {}, what + "_left_out");
  const ValueId key = c.emit("cast", {out}, {{"dtype", std::string("i32")}}, what + "_key");
  const ValueId order =
      c.b.multi("argsort", {key}, {}, {c.name + "." + what + "_order", c.name + "." + what + "_keys"})[0];
  const ValueId vectors = c.emit("reshape", {order}, {{"shape", Dims{dims[0], dims[1], 1}}}, what + "_vectors");
  const ValueId tokens = c.emit("gather_nd", {values, vectors}, {{"batch", int64_t{1}}}, what + "_tokens");
  return {tokens, count_of(c, kept, what + "_length"), dims[1]};
}

}  // namespace heddle::frontend
