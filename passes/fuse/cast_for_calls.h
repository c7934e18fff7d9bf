// Casts of stored parameters that libraries read: each call has its own, so that no wide copy lies in memory from one
// call to the next.
//
//   %w.f32 = cast(%w)                                         %y = call @matmul(%x, %w.f32)   with %w.f32 = cast(%w)
//   %y = call @matmul(%x, %w.f32)                             %w.again = ordered_after(%w, %dy)
//   %dx = call @matmul.1(%dy, %w.f32)                  ->     %dx = call @matmul.1(%dy, %w.f32.1)   with %w.f32.1 = cast(%w.again)
//   %w.next = sub(%w.f32, %change)                            %w.next = sub(%w.f32.2, %change)      with %w.f32.2 = cast(%w)
//
// Kernels read the parameter itself: fuse computes their casts inside. ordered_after (ir/ops/ordered_after.cpp) keeps
// the casts of two calls out of one kernel. After select, which makes the calls, and at the start of fuse.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool cast_for_calls(ir::Graph& g, const Options& options);

}  // namespace heddle::passes
