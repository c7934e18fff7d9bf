// A training of one weight vector beside its update rule written out.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "tests/unit/built_model.h"

namespace heddle::frontend {

// w and its gradient at the step that is being taken, which counts from 0.
using UpdateRule = std::function<void(std::vector<double>& w, std::vector<double> gradient, int step)>;

// Runs the model's training, in which `train` gives what is said of the optimizer, and the rule: they agree after each
// step.
void follow(const std::string& train, const UpdateRule& rule, int steps = 6, double tolerance = 1e-12);

// The same with plain gradient descent at the rate of each step.
void follow_rate(const std::string& train, const std::function<double(int step)>& rate, int steps);

}  // namespace heddle::frontend
