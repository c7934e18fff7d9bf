// Long sums: sums with so long a chain of additions that the rounding errors would show. Kernels add such a sum up in
// runs of kRun elements or more, and add each run to a wider number (codegen/device/5_monoids.cuh).
//
//   reduce_sum f32[1000000,64] -> f32[64], on 64 blocks of the host   15,625 rows a block: long
//   reduce_sum f32[64,784] -> f32[64], 16 running results a row       49 elements each: not long
//
// Only this file decides which sums are long. Emission prints runs for them, and counting counts the runs.
#pragma once
#include <cstdint>

#include "ir/kernel/plan_contract.h"
#include "ir/kernel/plan_kernel.h"
#include "ir/op_def.h"

namespace heddle::ir {

// Must equal hd::kRun of the preamble.
inline constexpr int64_t kRun = 32;

// The length of a chain of additions that is allowed in a sum of `elements`: 8 for each doubling of the elements. Each
// addition rounds by at most eps / 2, so the error stays below 4 * log2(elements) * eps * sum|x|.
double allowed_error(int64_t elements);

// Whether kernel text adds up the reduction in runs. For a reduction over rows, columns or all points of a plan:
bool is_long_sum(const Graph& kernel, const KernelPlan& plan, const Node& n);
// For a reduction inside a point. `spread`: the lanes of a warp share its loop (loop::singles).
bool is_long_sum(const Signature& s, const ReductionDomain& d, bool spread);

// Elements of one row that a thread adds to one of its accumulators, one after the other.
int64_t elements_of_row(const schedules::Rows& schedule, const KernelPlan& plan);
// Elements of a run in a sum of `elements`. It grows with `elements`, because the allowed error does.
int64_t run_of(int64_t elements);
// Iterations of a thread's loop over the packets of a row that make a run.
int64_t turns_of_run(const schedules::Rows& schedule, const KernelPlan& plan);
// Iterations of the loop over rows, or over batches of rows, that make a run of the sums across rows; 0 if none of
// these sums is long.
int64_t rows_of_run(const Graph& kernel, const schedules::Rows& schedule, const KernelPlan& plan);

// For loops inside a point: the loop that ends runs, and the number of its iterations that make a run.
struct RunOfLoops {
  size_t loop = 0;
  int64_t turns = 1;
};
RunOfLoops run_of_loops(const Dims& loops);

// For a tiled product: the steps over k that make a run; 0 if its sums are not long. Runs are added to a second set of
// sums. `wide`: those are wider than float; floats suffice if there are few runs.
struct ProductRuns {
  int64_t steps = 0;
  bool wide = false;
};
ProductRuns product_runs(const schedules::Product& schedule, const ContractPlan& plan);

}  // namespace heddle::ir
