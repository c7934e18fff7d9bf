// RunState: where a training stands between two steps, beside what the executable's states hold.
//
// The position is (epochs, step_of_epoch): the order of rows is a function of (seed, epoch), so the next step reads the
// rows from step_of_epoch batches on. step_of_epoch is the number of an epoch's steps where they have ended and the
// validation has not.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "runtime/train/metrics.h"
#include "runtime/weights/safetensors.h"

namespace heddle::runtime {

// The epoch that was measured best, and the weights after it.
struct Best {
  double value = 0;
  int64_t epoch = 0, step = 0;
  WeightsFile weights;
  std::string by = {};  // the measure, as `measure_of` says it; empty: not known, since an older version wrote it
};

struct RunState {
  int64_t steps = 0, epochs = 0;  // finished ones
  int64_t step_of_epoch = 0;      // of the epoch that comes next
  double seconds = 0;             // of training and validation, in all processes of the run
  MetricValues train;             // of the last epoch whose steps have ended
  std::optional<MetricValues> validation;
  std::optional<Best> best;
  int64_t epochs_without_better = 0;
  int64_t skipped = 0, skipped_in_row = 0;  // of `steps`, those that overflowed: the optimizer has made the others
};

// When a training is saved: as soon as one of them is due; 0: not by this.
struct SaveRule {
  int64_t steps = 0, epochs = 0;
  double seconds = 0;
};

// What makes an epoch better than those before, and when to give up.
struct BestRule {
  std::string metric = "loss";  // of the validation rows where there are any, else of the epoch's training
  bool higher = false;
  double min_delta = 0;
  int64_t patience = 0;  // epochs in a row without a better one that end the training; 0: none do
};

}  // namespace heddle::runtime
