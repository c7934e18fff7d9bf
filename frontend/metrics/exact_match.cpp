// exact_match: the share of rows in which all tokens are right.
#include <algorithm>

#include "frontend/metrics/sequences.h"
#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

// Columns behind the sequence, so that both are as wide.
Sequence widened(MeasureContext& c, Sequence s, int64_t size, const std::string& what) {
  if (s.size == size) return s;
  s.tokens =
      c.emit("pad", {s.tokens}, {{"low", Dims{0, 0}}, {"high", Dims{0, size - s.size}}, {"fill", 0.0}}, what + "_wide");
  s.size = size;
  return s;
}

ir::Values next(MeasureContext& c, const ir::Values& old) {
  const SequencePair pair = read_sequences(c);
  const int64_t size = std::max(pair.predicted.size, pair.reference.size);
  const Sequence predicted = widened(c, pair.predicted, size, "predicted");
  const Sequence reference = widened(c, pair.reference, size, "reference");
  const ValueId differ = c.emit("ne", {predicted.tokens, reference.tokens}, {}, "differ");
  const ValueId wrong = c.emit("and", {differ, inside(c, reference, "inside")}, {}, "wrong");
  const ValueId faults =
      sum_of(c, c.emit("cast", {wrong}, {{"dtype", std::string("i32")}}, "wrong_number"), {1}, "faults");
  const ValueId none = c.emit("eq", {faults, like(c, 0, faults)}, {}, "no_fault");
  const ValueId as_long = c.emit("eq", {predicted.length, reference.length}, {}, "as_long");
  const ValueId right = c.emit("and", {c.emit("and", {none, as_long}, {}, "equal"), pair.counts}, {}, "right");
  return with_batch(c, old,
                    {sum_of(c, as_number(c, right, "right"), {}, "right_rows"),
                     sum_of(c, as_number(c, pair.counts, "counts"), {}, "all_rows")});
}

const RegisterMetric exact_match(mean_of_sequences(
    "exact_match", "share of rows all of whose tokens are the labels, none missing and none more", next));

}  // namespace
}  // namespace heddle::frontend
