// Mixed precision: gives the operators of a mixed training 16-bit types, each as its rule says (ir/mixed_precision.h).
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
// Products begin it; what reads 16 bits follows or widens. Inputs, outputs, states and what bodies carry keep their
// types, and so does all that lies behind a cast of the model, by which the frontend fixes what losses, metrics and
// outputs read. Before differentiate: the gradient of a cast is a cast, so that parameters get gradients of f32, and
// everything between is of the type of its value. Each cast has a remark with its reason. Nothing else is rounded:
// kernels compute elements, and sums, of 16-bit values in f32.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool mixed_precision(ir::Module& m, const Options& options);

}  // namespace heddle::passes
