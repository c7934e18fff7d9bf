// rouge_l: how long the longest common subsequence is (Lin 2004, ROUGE-L with beta = 1), mean over rows.
//
// A turn of the loop takes one token a of what is predicted, and the lengths L(j) of the tokens before it with the first j
// of the reference b:
//
//   L(j) = max over k <= j of max(L(k), L(k-1) + [a is b(k)])
#include "frontend/metrics/sequences.h"
#include "frontend/training/measure_loop.h"
#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

// i32[N]
ValueId common(MeasureContext& c, const SequencePair& s) {
  const int64_t rows = c.b.type(s.predicted.length).dims[0], width = s.reference.size + 1;
  const ValueId place = places(c, rows, width);
  const ValueId one_on = c.emit("pad", {s.reference.tokens}, {{"low", Dims{0, 1}}, {"high", Dims{0, 0}}, {"fill", 0.0}},
                                "reference_one_on");
  // Place j is of token j - 1 of the reference: 1 to its length.
  const ValueId is_token = c.emit("gt", {place, like(c, 0, place)}, {}, "is_token");
  const ValueId steps = c.emit("transpose", {s.predicted.tokens}, {{"perm", Dims{1, 0}}}, "token_steps");
  const ValueId none = like(c, 0, place);
  MeasureLoop loop(c, "common", s.predicted.size, {none}, {steps});
  const ValueId before = loop.carries[0];
  const ValueId same = c.emit("eq", {one_on, along_row(c, loop.slices[0], width, "token")}, {}, "same");
  const ValueId hit = c.emit("and", {same, is_token}, {}, "hit");
  const ValueId one = c.emit("cast", {hit}, {{"dtype", std::string("i32")}}, "hit_number");
  const ValueId longer = c.emit("add", {moved_right(c, before, 1, 0, "diagonal"), one}, {}, "longer");
  const ValueId most = c.emit("max", {before, longer}, {}, "most");
  const ValueId after = c.emit("cummax", {most}, {{"axis", int64_t{1}}}, "after");
  const ValueId turns = c.emit("broadcast", {loop.index}, {{"shape", Dims{rows}}}, "turns");
  const ValueId goes_on = along_row(c, c.emit("lt", {turns, s.predicted.length}, {}, "goes_on"), width, "goes_on_row");
  const ValueId last = loop.run({c.emit("select", {goes_on, after, before}, {}, "kept")}).last[0];
  const ValueId end = c.emit("eq", {place, along_row(c, s.reference.length, width, "end")}, {}, "is_end");
  return sum_of(c, c.emit("select", {end, last, like(c, 0, last)}, {}, "last_or_zero"), {1}, "common_length");
}

// F = 2 P R / (P + R) with P = common / predicted and R = common / reference; 0 where one of them is empty.
ir::Values next(MeasureContext& c, const ir::Values& old) {
  const SequencePair s = read_sequences(c);
  const auto number = [&](ValueId v, const std::string& what) {
    return c.emit("cast", {v}, {{"dtype", std::string("f64")}}, what + "_f64");
  };
  const ValueId both = number(c.emit("add", {s.predicted.length, s.reference.length}, {}, "lengths"), "lengths");
  const ValueId twice = number(common(c, s), "common");
  const ValueId divisor = c.emit("max", {both, like(c, 1, both)}, {}, "divisor");
  const ValueId f = c.emit("div", {c.emit("add", {twice, twice}, {}, "twice"), divisor}, {}, "f");
  const ValueId counted = c.emit("select", {s.counts, f, like(c, 0, f)}, {}, "f_counted");
  return with_batch(c, old, {sum_of(c, counted, {}, "f_sum"), sum_of(c, as_number(c, s.counts, "counts"), {}, "rows")});
}

const RegisterMetric rouge_l(
    mean_of_sequences("rouge_l",
                      "mean over rows of F1 of the longest common subsequence: 2 n / (length predicted + length of the "
                      "labels)",
                      next));

}  // namespace
}  // namespace heddle::frontend
