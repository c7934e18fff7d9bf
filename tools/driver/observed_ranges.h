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

}  // namespace heddle::driver
