// fuse: groups what is left into kernels, and decides how each is executed.
//
//   %b: f32[64,128] = broadcast(%bias) {dims = [1], shape = [64,128]}
//   %a: f32[64,128] = add(%x, %b)
//   %h: f32[64,128] = relu(%a)
//     ->
//   %h: f32[64,128] = call @broadcast.add.relu(%bias, %x)
//
// Two groups become one when something is saved (bytes not moved, a launch), no path leads from one to the other
// through a third, and ir::plan_kernel can execute the result. Sources, random numbers, casts and broadcasts are not
// grouped: every group that reads one computes its own, so a dropout mask is never stored. Movements that only rename
// bytes stay plain nodes, except inside a group.
//
// After select; afterwards a graph holds calls and views. Each edge that was not fused is noted with its reason.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool fuse(ir::Module& m, const Options& options);

}  // namespace heddle::passes
