// plan_values: the second half of plan_kernel, of forms by rows and columns: the extent and the pass of every value in
// one space.
#pragma once
#include "ir/kernel/plan_kernel.h"

namespace heddle::ir {

struct ValuesPlan {
  KernelPlan plan;
  bool affine = true;  // no division or remainder touches the column in any access
};
// Throws Refusal.
ValuesPlan plan_values(const Graph& kernel, const Dims& space);

// How far the counters of loops over all points go.
int64_t reach(const Dims& space);

}  // namespace heddle::ir
