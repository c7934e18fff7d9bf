// Widen products: on the host, products of 16-bit numbers become products of f32 on converted copies, which a library
// executes: tens of times faster than loops over numbers that no unit multiplies.
//
//   %y: bf16[8,4] = matmul(%x, %w)
//   ->
//   %x.f32: f32[8,3] = cast(%x) {dtype = "f32"}
//   %w.f32: f32[3,4] = cast(%w) {dtype = "f32"}                            none where %w = cast(parameter)
//   %y.f32: f32[8,4] = matmul(%x.f32, %w.f32) {precision = "bf16"}
//   %y: bf16[8,4] = cast(%y.f32) {dtype = "bf16"}
//
// The same number: sums are of f32 before and after, and the permission to round operands changes none that have been
// rounded. It is not rounded at all where all readers widen it again, as those of a weight's gradient do. What the graph is given in f32, a parameter or an input, is no copy: the product reads it, and may round it.
// Not without a library, nor on a GPU, whose kernels read 16 bits. After simplify.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool widen_products(ir::Module& m, const Options& options);

}  // namespace heddle::passes
