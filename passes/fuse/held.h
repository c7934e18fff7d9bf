// The additional memory that is live at one time if two groups become one kernel.
//
//   %a = product, read by group 1; then %b = product, read by group 2
//
// With two kernels, the memory of %a is free before %b is computed. One kernel needs both at the same time.
#pragma once
#include "passes/fuse/groups.h"

namespace heddle::passes {

// If one kernel holds kMuchHeld bytes or more in addition, it must save at least 1 / kLeastSaved of them in bytes
// moved.
constexpr int64_t kMuchHeld = int64_t{32} << 20, kLeastSaved = 16;

// The bytes of values that are live at the same time only if both groups are one kernel. 0 for small groups.
int64_t held_longer(const ir::Graph& g, const Groups& groups, int a, int b);

}  // namespace heddle::passes
