// Profiles as people read them.
#pragma once
#include <string>

#include "tools/driver/profile.h"

namespace heddle::tools {

// The kernels, the longest first, with what they move and compute and their share of the bound; then what is outside of
// kernels, the whole step, and what the bound is.
std::string profile_text(const driver::Profile& p);
// What changed from one to the other, the largest change first.
std::string difference_text(const driver::Profile& before, const driver::Profile& after);
std::string difference_json(const driver::Profile& before, const driver::Profile& after);

}  // namespace heddle::tools
