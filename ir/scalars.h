// Scalars: numbers that a kernel takes as arguments, so that calls which differ in them share one kernel.
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

// Whether a scalar beside these cannot be called so: one of them is, or an attribute of every call.
bool is_taken(const std::vector<Scalar>& scalars, std::string_view name);

// What the scalar behind this attribute of a node must be: i64 for an integer; for a real the dtype
// of a source's result, and what an elementwise operator computes with: a slope of 0.01 is no
// element of an f16 tensor.
DType scalar_dtype(const OpDef& op, const Key& attr, const Type& result);

// The attribute's value as the number that a call supplies: a real for floating dtypes, else an integer. Nothing where
// it is no element of that dtype: 0.5 or 2^40 for an i32; nor for nan, whose bits say more.
std::optional<Attr> scalar_number(const Attr& value, DType dtype);

// Every scalar that the node's attributes name is declared by the kernel, with the right dtype. Throws InferError.
void check_scalars(const Graph& kernel, const Node& n);

// The attributes of a call: its own in canonical form, and a number for each scalar of the kernel. Throws InferError.
Attrs canonical_call_attrs(const OpDef& call, const Graph& kernel, Attrs attrs);

// The kernel as this call runs it: numbers in the place of scalars. Throws InferError where the call lacks one.
Graph bind_scalars(const Graph& kernel, const Attrs& call);

}  // namespace heddle::ir
