// In place: whether a node may write a result over one of its operands.
//
//   %y: f32[8] = relu(%x)              yes: each element is read just before it is written
//   %y: f32[4,4] = transpose(%x)       no: an element may be overwritten before it is read
//
// A kernel may when the result is computed from the operand by elementwise operators alone, so that
// both have one index map, and when the operand is not read again in a later pass over the row; a
// primitive, where it has a schedule in place.
#pragma once
#include <map>
#include <string>

#include "ir/graph.h"
#include "ir/kernel/plan_kernel.h"

namespace heddle::passes {

// By kernel, each planned once: a kernel of many results is asked for each of them with each operand.
using KernelPlans = std::map<std::string, ir::KernelPlan>;

// Of a kernel with a schedule: its own inputs and outputs.
bool kernel_can_write_over(const ir::Graph& kernel, ir::ValueId input, ir::ValueId output, KernelPlans& plans);
bool can_write_over(const ir::Module& m, const ir::Graph& g, const ir::Node& n, size_t operand, size_t result,
                    KernelPlans& plans);

}  // namespace heddle::passes
