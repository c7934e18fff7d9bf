// Recompute: values inside of some blocks are not kept for the backward sweep, but computed again when it arrives.
//
//   %h.0.fc: f32[64,512] = matmul(%x, %w)              %h.0.fc: f32[64,512] = matmul(%x, %w)
//   %h.0.act: f32[64,512] = relu(%h.0.fc)              %h.0.act: f32[64,512] = relu(%h.0.fc)
//   ...                                          ->    ...
//   %dw = matmul(%dy, %h.0.act)                        %x.again: f32[64,128] = ordered_after(%x, %dy)
//                                                      %h.0.fc.again = matmul(%x.again, %w)
//                                                      %h.0.act.again = relu(%h.0.fc.again)
//                                                      %dw = matmul(%dy, %h.0.act.again)
//
// A block's inputs stay, and what others than the sweep read of it. So do sums, which another kernel might add up in
// another order, and results of reductions that are much smaller than their operands. All else is made of these by the
// same operators, element by element, and keeps its bits; what the sweep itself sums up need not, since its kernels are
// others. After simplify, which would find that both are the same; before the passes that lay out and outline. Random
// numbers are counted, so dropout drops the same.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool recompute(ir::Module& m, const Options& options);

}  // namespace heddle::passes
