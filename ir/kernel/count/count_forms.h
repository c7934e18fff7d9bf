// The forms of generated kernels, counted one by one.
#pragma once
#include "ir/kernel/count/warp_points.h"
#include "ir/kernel/plan_contract.h"

namespace heddle::ir {

void count_points(const Graph& kernel, const KernelPlan& plan, KernelCounts& to);
void count_rows(const Graph& kernel, const KernelPlan& plan, KernelCounts& to);
void count_tiles(const Graph& kernel, KernelCounts& to);
void count_primitive(const Graph& kernel, const KernelPlan& plan, KernelCounts& to);
void count_products(const Graph& kernel, const ContractPlan& plan, KernelCounts& to);

// A launch's first instructions: parameters, the thread's number, the first condition; of warps that have work, more.
void count_entry(int64_t pointers, double warps, double busy, KernelCounts& to);

}  // namespace heddle::ir
