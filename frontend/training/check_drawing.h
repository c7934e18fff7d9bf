// Checks whether the rows of an epoch can be drawn as data.draw asks.
//
//   "draw": {"balance": "label"} with an input label: i32[N]  ->  nothing
//   ... with an input label: f32[N]  ->  data: draw: 'balance': a row of 'label' is f32, and a class is one whole number
#pragma once
#include "frontend/training/training_plan.h"

namespace heddle::frontend {

// The inputs of the plan must be known. Throws UserError at the location of the drawing.
void check_drawing(const TrainingPlan& plan);

}  // namespace heddle::frontend
