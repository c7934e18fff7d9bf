// Layout: moves explicit transposes toward each other so that they cancel, and into matrix products.
//
//   %n: f32[8,5,5,4] = transpose(%c) {perm = [0,2,3,1]}
//   %r: f32[8,5,5,4] = relu(%n)                            ->    %r: f32[8,4,5,5] = relu(%c)
//   %t: f32[8,4,5,5] = transpose(%r) {perm = [0,3,1,2]}
//
//   %t: f32[10,64] = transpose(%w) {perm = [1,0]}          ->    %y: f32[8,10] = matmul(%x, %w) {transpose_b = true}
//   %y: f32[8,10] = matmul(%x, %t)
//
// A transpose moves down through elementwise operators, reductions, slices, pads and concatenations. The rewritten
// graph is kept only if it transposes fewer bytes. The pass runs after simplify. It matters for NCHW models, which
// arrive with transposes around each convolution.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool layout(ir::Module& m, const Options& options);

}  // namespace heddle::passes
