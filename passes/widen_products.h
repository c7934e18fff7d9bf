// Widen products: on the host, replaces products of 16-bit operands by f32 products on converted copies. A library
// executes these tens of times faster than loops over 16-bit numbers, which host processors cannot multiply directly.
//
//   %y: bf16[8,4] = matmul(%x, %w)
//   ->
//   %x.f32: f32[8,3] = cast(%x) {dtype = "f32"}
//   %w.f32: f32[3,4] = cast(%w) {dtype = "f32"}                            none where %w = cast(parameter)
//   %y.f32: f32[8,4] = matmul(%x.f32, %w.f32) {precision = "bf16"}
//   %y: bf16[8,4] = cast(%y.f32) {dtype = "bf16"}
//
// The result is the same number. Sums are in f32 before and after, and `precision`, the permission to round operands,
// has no effect on operands that are already rounded. If all readers cast the result to f32, as those of a weight's
// gradient do, it is not rounded at all. An operand that is a cast of an f32 parameter or input is not copied: the
// product reads the f32 value, and may round it. The pass does nothing without a library, or on a GPU, whose kernels
// read 16 bits. It runs after simplify.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool widen_products(ir::Module& m, const Options& options);

}  // namespace heddle::passes
