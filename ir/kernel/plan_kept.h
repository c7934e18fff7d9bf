// plan_kept: the elements that a kernel of schedule rows keeps in registers from one pass over a row to the next.
//
//   %e = exp(sub(%x, %max)); %sum = reduce_sum(%e); %y = div(%e, %sum)     %e costs an exponential in two passes: kept
//   %r = reverse(%y)                                                       reads %e at other elements: computed again
//
// A kept element is a value at one index map. Other elements of the same value lie in registers of other threads.
#pragma once
#include "ir/kernel/plan_kernel.h"

namespace heddle::ir {

// The rest of `plan` must be complete.
std::vector<KeptValue> plan_kept(const Graph& kernel, const KernelPlan& plan);

}  // namespace heddle::ir
