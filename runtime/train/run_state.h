// RunState: the position and results of a training between two steps. The executable's states hold the rest.
//
// The position is (epochs, step_of_epoch). The order of rows depends on (seed, epoch), so the next step reads the rows
// from batch step_of_epoch on. When all steps of an epoch are done but its validation is not, step_of_epoch is the
// number of its steps.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "runtime/train/metrics.h"
#include "runtime/weights/safetensors.h"

namespace heddle::runtime {

// The best epoch so far, and the weights after it.
struct Best {
  double value = 0;
  int64_t epoch = 0, step = 0;
  WeightsFile weights;
  std::string by = {};  // the measure, as `measure_of` returns it; empty: an older version did not record it
};

struct RunState {
  int64_t steps = 0, epochs = 0;  // finished ones
  int64_t step_of_epoch = 0;      // steps done in the epoch after these
  double seconds = 0;             // of training and validation, over all processes of the run
  MetricValues train;             // of the last epoch whose steps have ended
  std::optional<MetricValues> validation;
  std::optional<Best> best;
  int64_t epochs_without_better = 0;
  int64_t skipped = 0, skipped_in_row = 0;  // of `steps`, those that overflowed and changed nothing
};

// How often a training is saved: after so many steps, epochs or seconds, whichever comes first; 0: not by this unit.
struct SaveRule {
  int64_t steps = 0, epochs = 0;
  double seconds = 0;
};

// When an epoch is better than those before, and when a training gives up.
struct BestRule {
  std::string metric = "loss";  // of the validation rows where there are any, else of the epoch's training
  bool higher = false;
  double min_delta = 0;
  int64_t patience = 0;  // the training ends after so many epochs in a row without a better one; 0: never
};

}  // namespace heddle::runtime
