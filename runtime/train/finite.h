// Finds nan and infinities in the parameters of a training, for error messages.
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

// Returns the first parameter or buffer that holds nan or an infinity. Moments and counters are not checked: an
// infinite second moment only stops the update of its weight.
std::optional<NotFinite> parameter_not_finite(Executable& executable);
// The same for a copy of all states.
std::optional<NotFinite> parameter_not_finite(const codegen::Program& program, std::span<const std::byte> states);

}  // namespace heddle::runtime
