// Prints profiles, and differences of profiles, as text and JSON.
#pragma once
#include <string>

#include "tools/driver/profile.h"

namespace heddle::tools {

// A table of the kernels, the slowest first, with bytes, operations and their share of the bound. Then the time outside
// of kernels, that of the whole step, and what the bound is.
std::string profile_text(const driver::Profile& p);
// The changes from `before` to `after`, the largest first.
std::string difference_text(const driver::Profile& before, const driver::Profile& after);
std::string difference_json(const driver::Profile& before, const driver::Profile& after);

}  // namespace heddle::tools
