// Sequences that metrics compare: what is predicted, decoded, and the labels, each row without what does not count.
//
//   labels  7 5 2 -100, end 2   ->   tokens 7 5, length 2
#pragma once
#include "frontend/metrics/decode.h"

namespace heddle::frontend {

struct Sequence {
  ir::ValueId tokens;  // [N, size], a row's own ones first; what follows them has no meaning
  ir::ValueId length;  // i32[N]
  int64_t size = 0;
};

struct SequencePair {
  Sequence predicted, reference;
  ir::ValueId counts;  // bool[N]: false of rows all of whose labels are ignored
};

// predicted, labels; [predicted_lengths], [label_lengths]
std::vector<std::string> sequence_inputs();
std::vector<std::string> sequence_lengths();
std::vector<Key> sequence_settings();  // ignore_index, end, decode

// Of each row: labels that are not ignore_index, in front of label_lengths and of the first "end"; decoded predictions
// likewise. Where each label has its logits, those of labels that are ignored do not count either.
SequencePair read_sequences(MeasureContext& c);
// What has no meaning in the types and shapes of the inputs, told at the metric's place.
void check_sequences(MeasureContext& c);

// A metric of sequences that is a mean over rows: `next` adds to a total and to how many rows counted.
MetricDef mean_of_sequences(std::string name, std::string doc,
                            std::function<ir::Values(MeasureContext&, const ir::Values& old)> next);

// Whether a place of [N, size] is one of the sequence's.
ir::ValueId inside(MeasureContext& c, const Sequence& s, const std::string& what);
// What is kept of a row, in front; how much it is.
Sequence compacted(MeasureContext& c, ir::ValueId values, ir::ValueId kept, const std::string& what);
// [N] along the second axis of [N, size].
ir::ValueId along_row(MeasureContext& c, ir::ValueId v, int64_t size, const std::string& what);
// 0, 1, ... in each row of i32[N, size].
ir::ValueId places(MeasureContext& c, int64_t rows, int64_t size);
// The first `size - by` columns, moved to the right.
ir::ValueId moved_right(MeasureContext& c, ir::ValueId v, int64_t by, double fill, const std::string& what);

}  // namespace heddle::frontend
