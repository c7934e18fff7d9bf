// Schedule: a topological order of each graph that lowers peak memory.
//
//   %a: f32[1000] = exp(%x)               %a: f32[1000] = exp(%x)
//   %b: f32[1000] = sin(%x)        ->     %s: f32[] = reduce_sum(%a)
//   %s: f32[] = reduce_sum(%a)            %b: f32[1000] = sin(%x)
//   %t: f32[] = reduce_sum(%b)            %t: f32[] = reduce_sum(%b)
//
// List scheduling with a few priorities; program order wins ties. A node that computes the next value of a state waits
// until the old value has been read, where it can, so that the update happens in place. After fuse: movements that are
// views cost nothing.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool schedule_instructions(ir::Module& m, const Options& options);

}  // namespace heddle::passes
