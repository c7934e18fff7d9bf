// Sequences for metrics: reads the decoded predictions and the labels of each row, without the tokens that do not
// count.
//
//   labels  7 5 2 -100, end 2   ->   tokens 7 5, length 2
#pragma once
#include "frontend/metrics/decode.h"

namespace heddle::frontend {

struct Sequence {
  ir::ValueId tokens;  // [N, size]; the first `length` tokens of a row are valid
  ir::ValueId length;  // i32[N]
  int64_t size = 0;
};

struct SequencePair {
  Sequence predicted, reference;
  ir::ValueId counts;  // bool[N]: false for rows with only ignored labels
};

// The inputs: predicted, labels; optional: predicted_lengths, label_lengths.
std::vector<std::string> sequence_inputs();
std::vector<std::string> sequence_lengths();
std::vector<Key> sequence_settings();  // the keys ignore_index, end and decode

// Reads the sequences of each row. The labels are those that are not ignore_index, before position label_lengths and
// before the first "end"; likewise for the decoded predictions. If each label has its own logits, those of ignored
// labels do not count either.
SequencePair read_sequences(MeasureContext& c);
// Checks the types and shapes of the inputs. Throws UserError at the metric.
void check_sequences(MeasureContext& c);

// A metric of sequences that is a mean over rows. `next` returns the next total and the next count of rows.
MetricDef mean_of_sequences(std::string name, std::string doc,
                            std::function<ir::Values(MeasureContext&, const ir::Values& old)> next);

// bool[N, size]: whether the place belongs to the sequence.
ir::ValueId inside(MeasureContext& c, const Sequence& s, const std::string& what);
// Moves the kept values of each row to its front. The length is their number.
Sequence compacted(MeasureContext& c, ir::ValueId values, ir::ValueId kept, const std::string& what);
// Broadcasts [N] to [N, size].
ir::ValueId along_row(MeasureContext& c, ir::ValueId v, int64_t size, const std::string& what);
// i32[N, size] with 0, 1, ... in each row.
ir::ValueId places(MeasureContext& c, int64_t rows, int64_t size);
// Moves the columns to the right by `by`, and fills the first ones with `fill`.
ir::ValueId moved_right(MeasureContext& c, ir::ValueId v, int64_t by, double fill, const std::string& what);

}  // namespace heddle::frontend
