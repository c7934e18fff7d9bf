// Buffer assignment: gives an offset in the graph's arena to every value that is no alias of another one, and to the
// scratch memory of every call.
//
//   graph @f(input %x: f32[64]) {                  graph @f(input %x: f32[64] at 0) {arena = 512} {
//     %y: f32[64] = exp(%x)                 ->       %y: f32[64] at 256 = exp(%x)
//     %z: f32[64] = sin(%y)                          %z: f32[64] at 0 = sin(%y)
//
// Offsets are multiples of 256 bytes. Values that are live at the same step never overlap. Inputs are live from the
// start, outputs and next values of states until the end, and a call's workspace (schedule.workspace bytes, at the
// attribute workspace_at) during the call. States lie outside the arena. The pass runs after alias. Throws UserError if
// a kernel overwrites an operand and alias has not run.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool assign_buffers(ir::Module& m, const Options& options);

}  // namespace heddle::passes
