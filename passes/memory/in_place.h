// In place: decides whether a node may write a result over one of its operands.
//
//   %y: f32[8] = relu(%x)              yes: each element is read just before it is written
//   %y: f32[4,4] = transpose(%x)       no: an element may be overwritten before it is read
//
// A kernel may do so under two conditions: only elementwise operators lead from the operand to the result, so that both
// have the same index map; and no later pass over the row reads the operand again. A primitive may do so if it has a
// schedule for that.
#pragma once
#include <map>
#include <string>

#include "ir/graph.h"
#include "ir/kernel/plan_kernel.h"

namespace heddle::passes {

// Plans by kernel name, a cache: a kernel is asked about each pair of result and operand, but planned once.
using KernelPlans = std::map<std::string, ir::KernelPlan>;

// Whether a kernel can write `output` over `input`, both of which are its values. False without a schedule.
bool kernel_can_write_over(const ir::Graph& kernel, ir::ValueId input, ir::ValueId output, KernelPlans& plans);
// Whether node n of g can write its result number `result` over its operand number `operand`.
bool can_write_over(const ir::Module& m, const ir::Graph& g, const ir::Node& n, size_t operand, size_t result,
                    KernelPlans& plans);

}  // namespace heddle::passes
