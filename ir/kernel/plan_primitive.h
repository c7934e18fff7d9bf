// plan_primitive: how a kernel of schedule primitive executes its operator, or its operators of the same kind that are
// joined in one kernel (Primitive::joins).
//
//   argsort of f32[4096]   ->   one block of 1024 threads, 16 KB of scratch
#pragma once
#include "ir/kernel/plan_kernel.h"
#include "ir/kernel/target.h"
#include "ir/op_def.h"

namespace heddle::ir {

// The plans that the kernel's operators declare, combined; the words are those of the first operator. Throws Refusal if
// the kernel holds any other operator.
PrimitivePlan primitive_of(const Graph& kernel);
// The bytes that a launch reads and writes: as the operators declare, else each operand and each result once.
PrimitiveBytes bytes_of_primitive(const Graph& kernel);
// An output of the kernel that always lies over an input (numbers of both).
struct OverwrittenInput {
  size_t input = 0, output = 0;
};
std::vector<OverwrittenInput> overwritten_inputs(const Graph& kernel);
KernelPlan plan_primitive(const Graph& kernel, const schedules::Primitive& schedule);
// The attribute of an operator whose first result is written over its first operand, so that only some rows are
// touched. Whether the kernel's operator may have it, and whether it has it.
inline constexpr const char* kInPlace = "in_place";
bool can_be_in_place(const Graph& kernel);
bool is_in_place(const Graph& kernel);
// The bytes of an operand that the kernel reads, or of a result that it writes.
int64_t primitive_bytes(const Graph& kernel, ValueId v);
KernelSchedule primitive_schedule(const Graph& kernel, const Target& target);

}  // namespace heddle::ir
