// k-fold cross-validation: the rows of `train` are cut into k parts. Each part is the validation once, while the others
// train.
//
//   take_fold(model, {.folds = 5, .fold = 2});   // the second part validates; "by", "group" and "draw" hold as they do
//                                                // for a drawn fraction
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frontend/json/json.h"
#include "frontend/model.h"

namespace heddle::driver {

struct Fold {
  int64_t folds = 0, fold = 0;  // fold counts from 1
};
// Sets the model's validation to a fold, in place of its fraction or reader. Returns a note about what was replaced, or
// "".
std::string take_fold(frontend::Model& model, const Fold& fold);

// The mean and the sample standard deviation (with n - 1) of each metric of each split. `metrics`: one object per fold,
// as `heddle train --json` prints it:
//
//   {"validation": {"loss": 0.1}}, {"validation": {"loss": 0.3}}
//     -> {"validation": {"loss": {"mean": 0.2, "std": 0.1414, "folds": [0.1, 0.3]}}}
std::string fold_statistics(const std::vector<frontend::Json>& metrics);

struct MetricSpread {
  std::string split, name;
  double mean = 0, deviation = 0;
};
// The same for metrics that are one number.
std::vector<MetricSpread> metric_spreads(const std::vector<frontend::Json>& metrics);

}  // namespace heddle::driver
