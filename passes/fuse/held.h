// What two groups would hold in memory together if they were one kernel.
//
//   %a = product, read by group 1; then %b = product, read by group 2
//
// As two kernels %a is given back before %b is made; one kernel needs both.
#pragma once
#include "passes/fuse/groups.h"

namespace heddle::passes {

// One kernel instead of two saves a launch. From so many bytes on, a saving of less than such a part of what it holds
// longer is not worth it.
constexpr int64_t kMuchHeld = int64_t{32} << 20, kLeastSaved = 16;

// Bytes of results that lie in memory beside one another only where both groups are one kernel. Of small groups 0.
int64_t held_longer(const ir::Graph& g, const Groups& groups, int a, int b);

}  // namespace heddle::passes
