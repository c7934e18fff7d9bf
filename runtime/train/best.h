// Which epoch of a training is the best: what early stopping and the best weights go by.
//
//   {metric = accuracy, higher, min_delta 0.01}: 0.90, then 0.905 is no better, 0.92 is
#pragma once
#include <optional>

#include "runtime/train/run_state.h"

namespace heddle::runtime {

// The metric of the validation rows, or of the epoch's training where there are none. Throws UserError where it is not
// one number.
double judged_value(const BestRule& rule, const MetricValues& train, const std::optional<MetricValues>& validation);
// What the rule goes by, for messages: "the least 'loss'". Values of two measures cannot be compared.
std::string measure_of(const BestRule& rule);
// The first number is better than none; nan is never better.
bool is_better(const BestRule& rule, double value, std::optional<double> best);

}  // namespace heddle::runtime
