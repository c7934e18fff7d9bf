// select: gives each contraction, with the bias and relu that follow it, to a library.
//
//   %y: f32[64,10] = matmul(%x, %w) {transpose_b = true}
//   %b: f32[64,10] = broadcast(%bias) {dims = [1], shape = [64,10]}        %h = call @matmul.broadcast.add.relu(%x, %w,
//   %bias) %a: f32[64,10] = add(%y, %b)                                     -> %h: f32[64,10] = relu(%a)
//
// The kernel's body stays the call's meaning. Its form says which library, in how many slices the batch is worked off
// (a function of the shapes, so that no number of threads changes a bit) and how much scratch the call takes. What the
// library does not take stays for fuse, with the reason.
//
// After layout, before fuse: fuse outlines everything that is left.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool select(ir::Module& m, const Options& options);

}  // namespace heddle::passes
