// Decides which epoch of a training is the best, for early stopping and for the best weights.
//
//   {metric = accuracy, higher, min_delta 0.01}: 0.90, then 0.905 is no better, 0.92 is
#pragma once
#include <optional>

#include "runtime/train/run_state.h"

namespace heddle::runtime {

// The value of the rule's metric: that of the validation rows, or of the epoch's training where there is no validation.
// Throws UserError where the metric is not one number.
double judged_value(const BestRule& rule, const MetricValues& train, const std::optional<MetricValues>& validation);
// The measure of the rule, for messages: "the least 'loss'". Values of different measures cannot be compared.
std::string measure_of(const BestRule& rule);
// Whether `value` is better than `best` by more than min_delta. A number is better than no value; nan is never better.
bool is_better(const BestRule& rule, double value, std::optional<double> best);

}  // namespace heddle::runtime
