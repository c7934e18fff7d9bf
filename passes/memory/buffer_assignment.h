// Pack: gives every value that has storage of its own an offset in the graph's arena, and every call its scratch
// memory.
//
//   graph @f(input %x: f32[64]) {                  graph @f(input %x: f32[64] at 0) {arena = 512} {
//     %y: f32[64] = exp(%x)                 ->       %y: f32[64] at 256 = exp(%x)
//     %z: f32[64] = sin(%y)                          %z: f32[64] at 0 = sin(%y)
//
// Offsets are multiples of 256 bytes. Values that live at the same step never overlap: inputs live from the start,
// outputs and the next values of states to the end, a call's workspace (schedule.workspace bytes, at the attribute
// workspace_at) during the call. States lie outside the arena. After alias.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool assign_buffers(ir::Module& m, const Options& options);

}  // namespace heddle::passes
