// Calibration: the smallest and the largest number that each observed weight (CompileOptions::observed) is multiplied with.
//
//   observed_ranges(session, [&] { evaluate(session, rows, {}); })   ->   {"fc.weight": {0, 5.5}}
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tools/driver/session.h"

namespace heddle::driver {

// In what `run` runs. A weight that meets zeros alone, or what is not finite, has no range.
std::map<std::string, std::vector<float>> observed_ranges(Session& s, const std::function<void()>& run);

// The weights of a program that a training with train.quantize has put buffers of ranges beside, and the names of those.
std::vector<std::string> ranged_weights(const codegen::Program& program);
std::vector<std::string> range_names(const codegen::Program& program);

}  // namespace heddle::driver
