// singles: finds the long reductions of a pointwise or rows kernel whose single result is the same at every point. Each
// warp computes it once, its lanes in parallel, before everything else.
//
//   %s = reduce_sum(%x: f32[3,16]); %y = mul(%a, broadcast(%s))   %s: of 48 elements 16 lanes take two, 16 one; they meet
//   %s = reduce_sum(%x: f32[3,5]); ...                            no: a thread adds up 15 elements sooner than lanes meet
//   %s = reduce_sum(%x), and %y lies in the place of %x           no: what it reads is there only until %y is stored
#pragma once
#include "ir/loop/loops.h"

namespace heddle::ir::loop {

// A statement for each of them, in the kernel's order. `plan` must be complete.
Statements singles(const Graph& kernel, const KernelPlan& plan);

}  // namespace heddle::ir::loop
