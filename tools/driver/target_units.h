// Results in the units of the files: what undoes the maps of the target that a loss compares a result with.
//
//   loss mse of [price, y], "map": {"y": [{"op": "normalize", "mean": 210, "std": 80}]}
//     ->  estimated_input(model, "price") = "y";  a result price of 0.5 becomes 250
//
// Maps that act on numbers are a factor and a sum, in evaluations: what they make of 0 and of 1 says both.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "frontend/model.h"
#include "frontend/training/training_plan.h"
#include "ir/map_def.h"
#include "runtime/data/element.h"

namespace heddle::driver {

struct TargetUnits {
  struct Unit {
    double factor = 1, offset = 0;  // a result times the factor, plus the offset
  };
  std::vector<Unit> channels;  // of elements by their channel; none: results stay as they are computed
  ir::MapRow row;
  std::string note = {};  // why maps that the target has are not undone; mostly empty
};

// The second operand of the first loss of the kind of mse whose first is `value`; empty: there is none.
std::string estimated_value(const frontend::Model& model, const std::string& value);
// Of the plan's input `name`, with the means and deviations that `plan` holds. None where there is no such input.
TargetUnits target_units(const frontend::TrainingPlan& plan, const std::string& name);
// Of `rows` rows of numbers, in place. Other types than f32 and f64 have no maps of numbers.
void to_target_units(const TargetUnits& units, runtime::data::ElementType type, int64_t rows,
                     std::span<std::byte> result);

}  // namespace heddle::driver
