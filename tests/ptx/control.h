// Branches, ends and calls: what needs more of a function than the instruction's own text.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tests/ptx/decoding.h"

namespace heddle::ptx {

struct ControlContext {
  std::vector<std::pair<size_t, std::string>>& branches;  // instruction and label, resolved at the function's end
  std::vector<std::pair<size_t, std::string>>& calls;     // and function
  size_t here;                                            // the instruction's index
};
bool decode_control(Decoding& d, const ControlContext& context);

}  // namespace heddle::ptx
