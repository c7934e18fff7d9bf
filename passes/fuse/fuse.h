// fuse: groups the remaining nodes into kernels, and chooses the schedule of each kernel.
//
//   %b: f32[64,128] = broadcast(%bias) {dims = [1], shape = [64,128]}
//   %a: f32[64,128] = add(%x, %b)
//   %h: f32[64,128] = relu(%a)
//     ->
//   %h: f32[64,128] = call @broadcast.add.relu(%bias, %x)
//
// Two groups become one under three conditions: it saves something (bytes moved, a launch), no path leads from one to
// the other through a third group, and ir::plan_kernel can execute the result. Sources, random numbers, casts and
// broadcasts are copied into every group that reads them, so a dropout mask is never stored. Movements that only rename
// bytes stay nodes of the graph, except inside a group.
//
// The pass runs after select. Afterwards a graph holds only calls and views. A remark gives the reason for each edge
// that was not fused.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool fuse(ir::Module& m, const Options& options);

}  // namespace heddle::passes
