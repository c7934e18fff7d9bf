// Where numbers stopped being finite: what a failed training is told with.
//
//   input_not_finite(executable, entry) -> {"image", row 3 of the batch, nan}
//   parameter_not_finite(executable)    -> {"fc1.weight", nan}
#pragma once
#include <optional>
#include <string>

#include "runtime/executable.h"

namespace heddle::runtime {

struct NotFinite {
  std::string name;  // of the input or parameter
  int64_t row = 0;   // of the first such element, along the first dimension
  double value = 0;  // nan, inf or -inf
};

// The first element of the entry's inputs that is nan or infinite. Inputs must have been written since the last run.
std::optional<NotFinite> input_not_finite(Executable& executable, const codegen::Entry& entry);
// The first parameter that holds nan or an infinity. Moments and counters are not looked at: an infinite second moment
// only stops its weight.
std::optional<NotFinite> parameter_not_finite(Executable& executable);

}  // namespace heddle::runtime
