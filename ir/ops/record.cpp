// record: writes the record of a step into the ring and advances the cursor, at the end of an entry that reads its own
// batches.
#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "ir/cursor.h"
#include "ir/op_def.h"

namespace heddle::ir {
namespace {

// The meaning of the operands: the loss, then the optional ones that the step has.
struct Told {
  int count = -1, norm = -1, outside = -1, scale = -1;
};
Told told(const Signature& s) {
  Told t;
  int next = 3;
  for (const auto& [name, place] :
       {std::pair("count", &t.count), {"norm", &t.norm}, {"outside", &t.outside}, {"scale", &t.scale}})
    if (s.flag(name)) *place = next++;
  return t;
}

bool has_norms(const Signature& s) { return s.operands[1].dims[0] >= ring_words(s.integer("records"), /*norms=*/true); }
bool has_scales(const Signature& s) {
  return s.operands[1].dims[0] == ring_words(s.integer("records"), /*norms=*/true, /*scales=*/true);
}

void require_scalar(const Signature& s, int operand, const char* what) {
  if (operand < 0) return;
  const Type& t = s.operands[static_cast<size_t>(operand)];
  if (!is_floating(t.dtype) || t.rank() != 0)
    throw InferError(fmt::format("expected {} as a floating scalar, got {}", what, to_string(t)));
}

std::vector<Type> infer(const Signature& s) {
  constexpr int64_t kMostRecords = int64_t{1} << 24;
  const Type &cursor = s.operands[0], &ring = s.operands[1];
  const int64_t records = s.integer("records");
  if (records < 1 || records > kMostRecords)
    throw InferError(fmt::format("'records' is {}, expected 1 to {}", records, kMostRecords));
  if (s.integer("rows") < 1) throw InferError(fmt::format("'rows' is {}, expected 1 or more", s.integer("rows")));
  if (cursor.rank() != 1 || cursor.dims[0] < kCursorColumns)
    throw InferError(
        fmt::format("expected a cursor u64[n] of at least {} words, got {}", kCursorColumns, to_string(cursor)));
  const Type plain{DType::u64, {ring_words(records, false)}}, with_norms{DType::u64, {ring_words(records, true)}};
  const Type with_scales{DType::u64, {ring_words(records, true, true)}};
  if (ring != plain && ring != with_norms && ring != with_scales)
    throw InferError(fmt::format("expected a ring {}, {} with norms, or {} with loss scales, got {}", to_string(plain),
                                 to_string(with_norms), to_string(with_scales), to_string(ring)));
  const Told t = told(s);
  const int64_t expected =
      3 + (t.count >= 0 ? 1 : 0) + (t.norm >= 0 ? 1 : 0) + (t.outside >= 0 ? 1 : 0) + (t.scale >= 0 ? 1 : 0);
  if (std::ssize(s.operands) != expected)
    throw InferError(fmt::format("expected {} operands for what is told, got {}", expected, s.operands.size()));
  require_scalar(s, 2, "the loss"), require_scalar(s, t.count, "the count"), require_scalar(s, t.norm, "the norm");
  require_scalar(s, t.scale, "the loss scale");
  if (t.norm >= 0 && ring == plain) throw InferError("a ring without norms takes none");
  if (t.scale >= 0 && ring != with_scales) throw InferError("a ring without loss scales takes none");
  if (t.outside < 0) return {cursor, ring};
  const Type& outside = s.operands[static_cast<size_t>(t.outside)];
  if (outside.dtype != DType::i64 || outside.rank() != 2 || outside.dims[1] != 2)
    throw InferError("expected a row [place, index] of i64 for each check, got " + to_string(outside));
  return {cursor, ring};
}

int64_t word(double value) { return std::bit_cast<int64_t>(value); }

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  Tensor cursor = *in[0], ring = *in[1];
  const Told t = told(s);
  const int64_t records = s.integer("records"), rows = s.integer("rows");
  const auto number = [&](int operand) { return in[static_cast<size_t>(operand)]->at(0); };
  const auto at = [](Tensor& tensor, int64_t i) -> int64_t& { return tensor.integer[static_cast<size_t>(i)]; };
  const int64_t step = at(cursor, kCursorStep);
  const auto place = static_cast<int64_t>(static_cast<uint64_t>(step) % static_cast<uint64_t>(records));
  const int64_t first = place * kRecordWords;
  at(ring, first + kRecordStep) = step;
  at(ring, first + kRecordLoss) = word(number(2));
  at(ring, first + kRecordCount) = word(t.count >= 0 ? number(t.count) : static_cast<double>(rows));
  at(ring, first + kRecordFault) = at(cursor, kCursorFault);
  at(ring, first + kRecordOutside) = -1;
  at(ring, first + kRecordIndex) = 0;
  const int64_t checks = t.outside < 0 ? 0 : s.operands[static_cast<size_t>(t.outside)].dims[0];
  for (int64_t check = checks; check-- > 0;) {
    const auto& outside = in[static_cast<size_t>(t.outside)]->integer;
    const auto entry = static_cast<size_t>(2 * check);
    if (outside[entry] < 0) continue;
    at(ring, first + kRecordOutside) = check << 40 | outside[entry];
    at(ring, first + kRecordIndex) = outside[entry + 1];
  }
  if (has_norms(s)) at(ring, records * kRecordWords + place) = word(t.norm >= 0 ? number(t.norm) : std::nan(""));
  if (has_scales(s)) at(ring, records * (kRecordWords + 1) + place) = word(t.scale >= 0 ? number(t.scale) : 0);
  at(cursor, kCursorPosition) += rows;
  at(cursor, kCursorStep) = step + 1;
  at(cursor, kCursorFault) = -1;
  return {std::move(cursor), std::move(ring)};
}

// The n-th of what is told, as a primitive's text names it.
std::string name_of(int operand) { return operand == 2 ? "told" : fmt::format("told_{}", operand - 2); }

PrimitivePlan plan(const Signature& s) {
  constexpr double kInstructions = 90;
  const Told t = told(s);
  const std::string records = std::to_string(s.integer("records")), rows = std::to_string(s.integer("rows"));
  const auto number = [](int operand) { return fmt::format("(double){}[0]", name_of(operand)); };
  const std::string norm = t.norm >= 0 ? number(t.norm) : "hd::nothing<double>()";
  const int64_t checks = t.outside < 0 ? 0 : s.operands[static_cast<size_t>(t.outside)].dims[0];
  const std::string scale = t.scale >= 0 ? number(t.scale) : "0.0";
  const std::string norms = fmt::format("hd::record_norm(moved, told_on, {}, {}), ", records, norm);
  const std::string scales = fmt::format("hd::record_scale(moved, told_on, {}, {}), ", records, scale);
  return {.words = {{"Record", (has_norms(s) ? norms : "") + (has_scales(s) ? scales : "") + "hd::record"},
                    {"Records", records},
                    {"Rows", rows},
                    {"Count", t.count >= 0 ? number(t.count) : fmt::format("(double){}", rows)},
                    {"Outside", t.outside < 0 ? "nullptr, 0" : fmt::format("{}, {}", name_of(t.outside), checks)}},
          .threads = 128,
          .instructions = kInstructions,
          .dependent_loads = 3};
}

PrimitiveBytes bytes(const Signature& s) {
  constexpr int64_t kMoved = 3;  // words of the cursor
  int64_t read = 0;
  for (size_t i = 2; i < s.operands.size(); ++i) read += s.operands[i].bytes();
  return {.read = read, .written = (kRecordWords + kMoved + (has_norms(s) ? 1 : 0) + (has_scales(s) ? 1 : 0)) * 8};
}

Sample sample(int64_t records, bool norms, bool count, bool norm, int64_t checks, DType loss = DType::f32,
              bool scales = false, bool scale = false) {
  Sample sample{.shapes = {{kCursorColumns + 1}, {ring_words(records, norms, scales)}, {}},
                .attrs = {{"records", records},
                          {"rows", int64_t{3}},
                          {"count", count},
                          {"norm", norm},
                          {"outside", checks > 0},
                          {"scale", scale}},
                .dtypes = {DType::u64, DType::u64, loss}};
  for (const bool told : {count, norm})
    if (told) sample.shapes.emplace_back(), sample.dtypes.push_back(DType::f32);
  if (checks > 0) sample.shapes.push_back({checks, 2}), sample.dtypes.push_back(DType::i64);
  if (scale) sample.shapes.emplace_back(), sample.dtypes.push_back(DType::f32);
  return sample;
}

const RegisterOp op(
    {.name = "record",
     .doc = "the step's number, its loss, what counts in it, the first element that was not finite and the first index "
            "outside go into the ring, at the step's number modulo `records`; the cursor moves on by `rows`",
     .operands = {"cursor", "ring", "told"},
     .variadic = true,
     .results = {"moved", "told_on"},
     .attrs = {{.name = "records", .doc = "that the ring holds", .required = true},
               {.name = "rows", .doc = "that the step has taken", .required = true},
               {.name = "count",
                .type = KeyType::flag,
                .doc = "whether how much counts in the loss is told behind it, else all rows do",
                .fallback = false},
               {.name = "norm", .type = KeyType::flag, .doc = "whether the gradients' norm follows", .fallback = false},
               {.name = "outside",
                .type = KeyType::flag,
                .doc = "whether a row [place, index] for each check of indices follows",
                .fallback = false},
               {.name = "scale",
                .type = KeyType::flag,
                .doc = "whether the loss scale follows, below 0 in a step that was skipped",
                .fallback = false}},
     .dtypes = {DType::u64},
     .kind = Primitive{.call = "HD_ONE_OF_ALL Record(moved, told_on, Records, Rows, (double)told[0], Count, Outside);",
                       .plan = plan,
                       .bytes = bytes,
                       .flop_counts = [](const Signature&) { return FlopCounts{}; },
                       .overwrites = {{.result = 0, .operand = 0}, {.result = 1, .operand = 1}}},
     .traits = {.records = [](const Node& n) { return std::get<int64_t>(n.attrs.at("records")); }},
     .infer = infer,
     .eval = eval,
     .no_gradient = "it tells what has been computed",
     .precondition = "nobody reads the cursor or the ring as they were before",
     .samples = {sample(1, false, false, false, 0), sample(3, true, true, true, 0), sample(2, true, true, false, 3),
                 sample(5, false, true, false, 1), sample(7, false, false, false, 2, DType::f64),
                 sample(4, true, true, true, 2, DType::f32, true, true),
                 sample(3, true, false, false, 0, DType::f32, true),
                 sample(2, true, false, false, 0, DType::f32, true, true)}});

}  // namespace
}  // namespace heddle::ir
