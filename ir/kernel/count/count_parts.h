// What a kernel executes, found from its loops: one function for all schedules, and the parts of it that have a file of
// their own.
#pragma once
#include "ir/kernel/count/kernel_counts.h"
#include "ir/loop/loops.h"

namespace heddle::ir {

void count_loops(const Graph& kernel, const KernelPlan& plan, const loop::Statements& loops, KernelCounts& to);

void count_products(const Graph& kernel, const ContractPlan& plan, const loop::Nest& products, KernelCounts& to);
void count_primitive(const Graph& kernel, const KernelPlan& plan, KernelCounts& to);
// A launch's first instructions: parameters, the thread's number, the first condition; of warps that have work, more.
void count_entry(int64_t pointers, double warps, double busy, KernelCounts& to);

}  // namespace heddle::ir
