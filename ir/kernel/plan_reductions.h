// plan_reductions: the first half of plan_kernel. It decides how each reduction of a kernel is executed in a space of
// rows and columns.
//
//   rows = 64, columns = 128:   reduce_sum f32[64,128] -> f32[64]    row: over the columns, by the row's team
//                               reduce_sum f32[64,128] -> f32[128]   column: over the rows, finished by the last block
//                               max_pool2d                           inner: a loop inside each point
#pragma once
#include <string>

#include "ir/kernel/plan_kernel.h"
#include "ir/op_def.h"

namespace heddle::ir {

// Loops inside a point with at most this many iterations are unrolled, so that the loop around them vectorises.
inline constexpr int64_t kUnrolledPoints = 16;

// Thrown inside the planner. `reason` says why the kernel cannot be executed in its schedule.
struct Refusal {
  std::string reason;
};

// Sets `reduction` and `finishing` of each value, and `extent` of finishing values. Throws Refusal.
void plan_reductions(const Graph& kernel, const Dims& space, KernelPlan& plan);

// Whether a reduction across points takes an element at each point, in a pass over the row. Else it is a total of
// values per row, which it takes after the passes.
bool is_per_point(ReductionPlan plan, const ReductionDomain& d, const Dims& space);

}  // namespace heddle::ir
