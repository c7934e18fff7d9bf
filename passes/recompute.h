// Recompute: discards the values inside of some blocks after the forward pass, and computes them again for the backward
// sweep. This trades time for memory.
//
//   %h.0.fc: f32[64,512] = matmul(%x, %w)              %h.0.fc: f32[64,512] = matmul(%x, %w)
//   %h.0.act: f32[64,512] = relu(%h.0.fc)              %h.0.act: f32[64,512] = relu(%h.0.fc)
//   ...                                          ->    ...
//   %dw = matmul(%dy, %h.0.act)                        %x.again: f32[64,128] = ordered_after(%x, %dy)
//                                                      %h.0.fc.again = matmul(%x.again, %w)
//                                                      %h.0.act.again = relu(%h.0.fc.again)
//                                                      %dw = matmul(%dy, %h.0.act.again)
//
// These values stay in memory: the inputs of a block, values that nodes outside of the block and the sweep read, sums
// (another kernel might add them up in another order), and results of reductions that are much smaller than their
// operands. All other values are computed again from these by the same operators, element by element, and keep their
// bits. Sums that the sweep itself makes may round differently, because its kernels differ. Random numbers are
// counter-based, so dropout drops the same elements again. The pass runs after simplify, which would merge the copies
// with the originals. It runs before the passes that lay out and outline.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool recompute(ir::Module& m, const Options& options);

}  // namespace heddle::passes
