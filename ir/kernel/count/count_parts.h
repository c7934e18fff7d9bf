// count_loops: counts what a kernel executes, from its loops, for all schedules. The other functions are parts of it in
// files of their own.
#pragma once
#include "ir/kernel/count/kernel_counts.h"
#include "ir/loop/loops.h"

namespace heddle::ir {

void count_loops(const Graph& kernel, const KernelPlan& plan, const loop::Statements& loops, KernelCounts& to);

void count_products(const Graph& kernel, const ContractPlan& plan, const loop::Nest& products, KernelCounts& to);
void count_primitive(const Graph& kernel, const KernelPlan& plan, KernelCounts& to);
// The first instructions of a launch: parameters, the thread's number, the first condition. `warps` execute these;
// `busy` of them have work and execute more.
void count_entry(int64_t pointers, double warps, double busy, KernelCounts& to);

}  // namespace heddle::ir
