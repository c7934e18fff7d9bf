// TrainingPlan: what running a model needs to know beside its Program: rows, batches, seeds, how metrics are totalled.
//
//   {"op": "accuracy", ...}
//     ->  Metric {name = "accuracy", numerator = "accuracy.sum", denominator = "accuracy.count", finish = ratio}
//
// Numerators and denominators are outputs of @train, @train_last, @eval and @eval_last: add each over the split,
// then finish.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "frontend/model.h"

namespace heddle::frontend {

enum class Finish { ratio, sqrt_ratio, exp_ratio };  // of the two totals

struct Metric {
  std::string name;
  std::string numerator, denominator;  // names of outputs, f32[]
  Finish finish = Finish::ratio;
  bool higher_is_better = false;
};

struct PlannedInput {
  std::string name;
  ir::Type row;        // one row, without the batch dimension
  int64_t below = -1;  // labels of a classification lie in [0, below), or are -100; -1: not an index
};

struct TrainingPlan {
  std::string name;
  std::vector<PlannedInput> inputs;  // in the model's order; an entry may use fewer
  int64_t batch = 0;
  std::optional<int64_t> epochs, steps;  // where both are given, whichever ends first
  int64_t seed = 0;
  bool drop_last = false;
  std::vector<Metric> metrics;  // the first is "loss"; the mean over all that counts in a split
  Data data;
  std::vector<Diagnostic> warnings;  // what is allowed, and hardly meant
};

// Throws UserError where the model's shapes do not fit.
TrainingPlan plan_training(const Model& model);

}  // namespace heddle::frontend
