// plan_kept: which elements a kernel of schedule rows keeps from one pass over a row to the next.
//
//   %e = exp(sub(%x, %max)); %sum = reduce_sum(%e); %y = div(%e, %sum)     %e costs an exponential in two passes: kept
//   %r = reverse(%y)                                                       reads %e at other elements: computed again
//
// A kept element is a value at one index map: what another pass needs at other elements is not in the same registers.
#pragma once
#include "ir/kernel/plan_kernel.h"

namespace heddle::ir {

// `plan` holds everything else already.
std::vector<KeptValue> plan_kept(const Graph& kernel, const KernelPlan& plan);

}  // namespace heddle::ir
