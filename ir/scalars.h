// Scalars: numbers that a kernel takes as arguments, so that calls with different numbers share one kernel.
//
//   kernel @random_uniform(%seed: i64[], %step: i64[], $stream: i64) {schedule = pointwise, domain = [8]} {
//     %u: f32[8] = random_uniform(%seed, %step) {shape = [8], stream = $stream}
//     return %u
//   }
//   ...
//   %a: f32[8] = call @random_uniform(%seed, %step) {stream = 7}
//
// Only attributes that are declared `scalar` (Key) may name one.
#pragma once
#include "ir/op_def.h"

namespace heddle::ir {

// Whether a further scalar cannot have this name: one of `scalars` has it, or an attribute of `call`.
bool is_taken(const std::vector<Scalar>& scalars, std::string_view name);

// The dtype of a scalar for this attribute of a node. It is i64 for an integer attribute. For a real attribute it is
// the dtype of the result; but for elementwise operators on 16-bit types it is f32, in which they compute.
DType scalar_dtype(const OpDef& op, const Key& attr, const Type& result);

// The attribute's value as the number that a call supplies: a real for floating dtypes, else an integer. Nothing if it
// is not a number of that dtype (0.5 or 2^40 for i32), or if it is nan, because a real attribute does not hold nan's
// bits.
std::optional<Attr> scalar_number(const Attr& value, DType dtype);

// Checks that the kernel declares every scalar that the node's attributes name, with the right dtype. Throws
// InferError.
void check_scalars(const Graph& kernel, const Node& n);

// The attributes of a call: those of `call` in canonical form, and a number for each scalar of the kernel. Throws
// InferError if a number is missing or does not fit its dtype.
Attrs canonical_call_attrs(const OpDef& call, const Graph& kernel, Attrs attrs);

// The kernel with the numbers of this call in the place of its scalars. Throws InferError if the call lacks one.
Graph bind_scalars(const Graph& kernel, const Attrs& call);

}  // namespace heddle::ir
