#include "runtime/train/best.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/check.h"
#include "ir/diagnostic.h"

namespace heddle::runtime {

double judged_value(const BestRule& rule, const MetricValues& train, const std::optional<MetricValues>& validation) {
  const MetricValues& values = validation ? *validation : train;
  const auto found = std::ranges::find(values, rule.metric, &MetricValue::name);
  HEDDLE_CHECK(found != values.end(), "the epoch has a metric '" + rule.metric + "'");
  if (!found->dims.empty())
    throw UserError(ExitCode::failed,
                    fmt::format("'{}' is not one number, so it cannot tell the best epoch", rule.metric),
                    "name another metric in train.early_stop.on");
  return found->value;
}

std::string measure_of(const BestRule& rule) {
  return fmt::format("the {} '{}'", rule.higher ? "largest" : "least", rule.metric);
}

bool is_better(const BestRule& rule, double value, std::optional<double> best) {
  if (std::isnan(value)) return false;
  if (!best) return true;
  return rule.higher ? value > *best + rule.min_delta : value < *best - rule.min_delta;
}

}  // namespace heddle::runtime
