// plan_primitive: how the operator of a kernel of schedule primitive is executed, or those that it joins.
//
//   argsort of f32[4096]   ->   one block of 1024 threads, 16 KB of scratch
#pragma once
#include "ir/kernel/plan_kernel.h"
#include "ir/kernel/target.h"
#include "ir/op_def.h"

namespace heddle::ir {

// What the kernel's operators say; a Refusal where the kernel holds anything else. Words are the first one's.
PrimitivePlan primitive_of(const Graph& kernel);
// What a launch reads and writes: as the operators say, else each operand and each result once.
PrimitiveBytes bytes_of_primitive(const Graph& kernel);
// Which results always lie over which operands, as numbers of outputs and inputs.
struct OverwrittenInput {
  size_t input = 0, output = 0;
};
std::vector<OverwrittenInput> overwritten_inputs(const Graph& kernel);
KernelPlan plan_primitive(const Graph& kernel, const schedules::Primitive& schedule);
// Whether the operator is executed in place: its first result over its first operand, of which only some rows are
// touched.
inline constexpr const char* kInPlace = "in_place";
bool can_be_in_place(const Graph& kernel);
bool is_in_place(const Graph& kernel);
// The bytes that a kernel of schedule primitive reads of an operand and writes of a result.
int64_t primitive_bytes(const Graph& kernel, ValueId v);
KernelSchedule primitive_schedule(const Graph& kernel, const Target& target);

}  // namespace heddle::ir
