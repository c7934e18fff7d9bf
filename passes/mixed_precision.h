// Mixed precision: gives the operators of a mixed-precision training 16-bit types, by the rules in
// ir/mixed_precision.h.
//
//   %y: f32[8,4] = matmul(%x, %w) {precision = "mixed_bf16"}
//   %r: f32[8,4] = relu(%y)
//   %e: f32[8,4] = exp(%r)
//   ->
//   %x.bf16: bf16[8,3] = cast(%x) {dtype = "bf16"}
//   %w.bf16: bf16[3,4] = cast(%w) {dtype = "bf16"}
//   %y: bf16[8,4] = matmul(%x.bf16, %w.bf16)
//   %r: bf16[8,4] = relu(%y)
//   %r.f32: f32[8,4] = cast(%r) {dtype = "f32"}
//   %e: f32[8,4] = exp(%r.f32)
//
// The 16-bit types start at products. Each reader of a 16-bit value either computes in 16 bits or casts it to f32.
// Inputs, outputs, states and carries keep their types. Values behind a cast of the model keep theirs, too: with such
// casts the frontend fixes the types that losses, metrics and outputs read. The pass runs before differentiate. The
// gradient of a cast is a cast, so gradients of parameters are f32, and any other gradient has the type of its value.
// Each cast has a remark with its reason. Kernels compute elements and sums of 16-bit values in f32, so only stored
// values are rounded.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool mixed_precision(ir::Module& m, const Options& options);

}  // namespace heddle::passes
