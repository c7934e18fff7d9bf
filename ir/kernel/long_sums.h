// Long sums: of so many elements one after the other that their rounding errors would show. They
// are added up in runs of kRun elements or more, which a wider number takes in
// (codegen/device/5_monoids.cuh).
//
//   reduce_sum f32[1000000,64] -> f32[64], on 64 blocks of the host   15,625 rows a block: long
//   reduce_sum f32[64,784] -> f32[64], 16 running results a row       49 elements each: not long
//
// Decided here only: emission prints runs where this says so, and counting counts them.
#pragma once
#include <cstdint>

#include "ir/kernel/plan_contract.h"
#include "ir/kernel/plan_kernel.h"
#include "ir/op_def.h"

namespace heddle::ir {

// As the preamble says.
inline constexpr int64_t kRun = 32;

// The error of a sum is to stay below this many times eps * sum|x|: four for each doubling of the elements.
double allowed_error(int64_t elements);

// Whether the kernel's text adds up the reduction in runs: one over rows, columns or all points of a plan,
bool is_long_sum(const Graph& kernel, const KernelPlan& plan, const Node& n);
// and one inside a point. `spread`: in a loop that a warp's lanes share (loop::singles).
bool is_long_sum(const Signature& s, const ReductionDomain& d, bool spread);

// Elements of one row that a thread adds to one of its accumulators, one after the other.
int64_t elements_of_row(const schedules::Rows& schedule, const KernelPlan& plan);
// Elements of a run of a sum of so many: the more, the more errors it may add up.
int64_t run_of(int64_t elements);
// Turns of a thread's loop over a row's packets between two ends of runs.
int64_t turns_of_run(const schedules::Rows& schedule, const KernelPlan& plan);
// Turns of the loop over rows, or over their batches, between two ends of runs of what is added up across rows; 0 where
// no such sum is long.
int64_t rows_of_run(const Graph& kernel, const schedules::Rows& schedule, const KernelPlan& plan);

// Of loops inside a point: the loop at whose turns runs end, and how many of its turns make one.
struct RunOfLoops {
  size_t loop = 0;
  int64_t turns = 1;
};
RunOfLoops run_of_loops(const Dims& loops);

// Of a product through tiles: the steps over k that make a run; 0 where its sums are not long. Runs
// join second sums, which are floats where there are few runs.
struct ProductRuns {
  int64_t steps = 0;
  bool wide = false;
};
ProductRuns product_runs(const schedules::Product& schedule, const ContractPlan& plan);

}  // namespace heddle::ir
