// Alias: decides which values share storage, before `assign_buffers` gives the rest its offsets.
//
//   %w: f32[16] = slice(%flat)                          %w: f32[16] at %flat = slice(%flat)             a view
//   %b.grad: f32[4] = call @sum(%d)               ->    %b.grad: f32[4] at %grad + 64 = call @sum(%d)
//   %grad: f32[20] = concat(%w.grad, %b.grad)           %grad: f32[20] = concat(%w.grad, %b.grad)       no copy
//   %next: f32[20] = call @sgd(%flat, %grad)            %next: f32[20] at %flat = call @sgd(%flat, ...) in place
//   update %flat <- %next                               update %flat <- %next                           no copy
//
// Views are movements that only rename bytes (ir/storage/view.h), at multiples of 16 bytes, so that
// wide loads stay aligned. A kernel that writes over an operand carries the mark itself (`%y:
// f32[8] at %x` in its body), so that its text promises nothing else. A base is always a value with
// storage of its own: a state, an input, or a value that `assign_buffers` will place. After
// schedule; remarks say what stays a copy and why.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool alias(ir::Module& m, const Options& options);

}  // namespace heddle::passes
