// Alias: decides which values share storage, before `assign_buffers` gives the rest its offsets.
//
//   %w: f32[16] = slice(%flat)                          %w: f32[16] at %flat = slice(%flat)             a view
//   %b.grad: f32[4] = call @sum(%d)               ->    %b.grad: f32[4] at %grad + 64 = call @sum(%d)
//   %grad: f32[20] = concat(%w.grad, %b.grad)           %grad: f32[20] = concat(%w.grad, %b.grad)       no copy
//   %next: f32[20] = call @sgd(%flat, %grad)            %next: f32[20] at %flat = call @sgd(%flat, ...) in place
//   update %flat <- %next                               update %flat <- %next                           no copy
//
// Views are movements that only rename bytes (ir/storage/view.h). They start at multiples of 16 bytes, so that wide
// loads stay aligned. If a kernel writes over an operand, its body says so (`%y: f32[8] at %x`), and its text must not
// promise the compiler that the two are separate. A base is always a value that no other value contains: a state, an
// input, or a value that `assign_buffers` will place. The pass runs after schedule_instructions. Remarks say what is
// copied and why.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool alias(ir::Module& m, const Options& options);

}  // namespace heddle::passes
