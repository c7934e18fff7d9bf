// Where numbers stopped being finite: what a failed training is told with.
//
//   parameter_not_finite(executable)    -> {"fc1.weight", nan}
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "runtime/executable.h"

namespace heddle::runtime {

struct NotFinite {
  std::string name;
  double value = 0;  // nan, inf or -inf
};

// The first parameter or buffer that holds nan or an infinity. Moments and counters are not looked
// at: an infinite second moment only stops its weight.
std::optional<NotFinite> parameter_not_finite(Executable& executable);
// The same of a copy of all states.
std::optional<NotFinite> parameter_not_finite(const codegen::Program& program, std::span<const std::byte> states);

}  // namespace heddle::runtime
