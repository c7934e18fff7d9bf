// Instruction scheduling: finds a topological order of each graph with a low peak of memory.
//
//   %a: f32[1000] = exp(%x)               %a: f32[1000] = exp(%x)
//   %b: f32[1000] = sin(%x)        ->     %s: f32[] = reduce_sum(%a)
//   %s: f32[] = reduce_sum(%a)            %b: f32[1000] = sin(%x)
//   %t: f32[] = reduce_sum(%b)            %t: f32[] = reduce_sum(%b)
//
// It runs list scheduling with several priorities and keeps the best order; on a tie, program order. A node that
// computes the next value of a state waits, if possible, until the old value has been read, so that the update happens
// in place. The pass runs after fuse. Movements that are views cost nothing.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool schedule_instructions(ir::Module& m, const Options& options);

}  // namespace heddle::passes
