#include "frontend/training/plan_buckets.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/read/read_parts.h"

namespace heddle::frontend {
namespace {

const PlannedInput& input_of(const std::vector<PlannedInput>& inputs, const std::string& name) {
  return *std::ranges::find(inputs, name, &PlannedInput::name);
}

// One whole number for a row.
void require_lengths(const Buckets& buckets, const TrainingPlan& plan) {
  for (const Named& by : buckets.by) {
    const PlannedInput& input = input_of(plan.inputs, by.text);
    if (input.row.dims.empty() && !ir::is_floating(input.row.dtype)) continue;
    throw UserError(by.where,
                    fmt::format("data: buckets: 'by': a row of '{}' is {}, and how long a row is is one whole number",
                                by.text, ir::to_string(input.row)),
                    "an input of \"shape\": [\"N\"] and \"dtype\": \"i32\", which the reader makes of \"length\"");
  }
  for (const Named& by : buckets.by)
    if (const auto maps = plan.data.maps.find(by.text); maps != plan.data.maps.end() && !maps->second.empty())
      throw UserError(maps->second[0].where,
                      fmt::format("data: map: '{}' says how long rows are, and a map changes it", by.text),
                      "leave the map out, or the buckets");
}

// A row is cut behind its first elements: the length is its first axis.
bool is_cut(const PlannedInput& whole, const PlannedInput& shorter, const Buckets& buckets, int64_t length) {
  const ir::Dims &all = whole.row.dims, &first = shorter.row.dims;
  if (all == first) return false;
  const bool rest = all.size() == first.size() && std::equal(all.begin() + 1, all.end(), first.begin() + 1);
  if (!rest || first[0] > all[0])
    throw UserError(
        buckets.let.where,
        fmt::format("data: buckets: a row of input '{}' is {}, and {} where '{}' is {}: only its first axis "
                    "may be shorter",
                    whole.name, ir::to_string(whole.row), ir::to_string(shorter.row), buckets.let.text, length),
        "buckets are of inputs [N, length, ...]");
  return true;
}

void check_maps(const PlannedInput& input, const TrainingPlan& plan) {
  const auto maps = plan.data.maps.find(input.name);
  if (maps == plan.data.maps.end()) return;
  for (const ir::DataMap& map : maps->second) {
    if (map.def->picture)
      throw UserError(map.where,
                      fmt::format("{} of input '{}' takes whole rows, and buckets cut them", map.def->name, input.name),
                      "leave the map out, or the buckets");
    if (input.row.rank() == 1 && map.waits_for_statistics())
      throw UserError(map.where,
                      fmt::format("{} of input '{}' has a mean for each place of a row, and buckets cut them",
                                  map.def->name, input.name),
                      "give 'mean' and 'std', one number each");
  }
}

}  // namespace

std::vector<PlannedBucket> plan_buckets(ModelInstances& instances, const TrainingPlan& plan) {
  const Model& model = instances.model();
  if (!model.data.buckets) return {};
  const Buckets& buckets = *model.data.buckets;
  require_lengths(buckets, plan);
  if (plan.in_order)
    throw UserError(buckets.where, "data: buckets: a stateful layer goes on where a row stopped, so rows stay in order",
                    "leave the buckets out, or \"stateful\"");
  std::vector<PlannedBucket> made;
  for (size_t i = 0; i < instances.shorter_count(); ++i) {
    const int64_t length = buckets.lengths[i];
    PlannedBucket bucket{.length = length, .inputs = {}, .indices = {}};
    try {
      TrainingPlan shorter = plan_training(instances.shorter(i));
      bucket.inputs = std::move(shorter.inputs), bucket.indices = std::move(shorter.indices);
    } catch (const UserError& error) {
      throw at_length(error, buckets, length);
    }
    bool any = false;
    for (size_t k = 0; k < plan.inputs.size(); ++k) {
      if (!is_cut(plan.inputs[k], bucket.inputs[k], buckets, length)) continue;
      any = true;
      check_maps(plan.inputs[k], plan);
    }
    if (!any)
      throw UserError(buckets.let.where, fmt::format("data: buckets: no input's rows are '{}' long", buckets.let.text),
                      fmt::format("for example \"shape\": [\"{}\", \"{}\"]", model.batch_dimension, buckets.let.text));
    made.push_back(std::move(bucket));
  }
  return made;
}

}  // namespace heddle::frontend
