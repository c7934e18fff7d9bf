// Calibration: finds the smallest and the largest number that each observed weight (CompileOptions::observed) is
// multiplied with.
//
//   observed_ranges(session, [&] { evaluate(session, rows, {}); })   ->   {"fc.weight": {0, 5.5}}
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tools/driver/session.h"

namespace heddle::driver {

// The ranges over all that `run` executes. A weight that meets only zeros, or nan or infinities, has no range.
std::map<std::string, std::vector<float>> observed_ranges(Session& s, const std::function<void()>& run);

// ranged_weights: the weights for which a training with train.quantize keeps ranges in buffers. range_names: the names
// of these buffers.
std::vector<std::string> ranged_weights(const codegen::Program& program);
std::vector<std::string> range_names(const codegen::Program& program);

}  // namespace heddle::driver
