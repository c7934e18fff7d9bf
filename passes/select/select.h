// select: gives contractions, with the epilogue that follows them, and whole composites to libraries.
//
//   %y: f32[64,10] = matmul(%x, %w) {transpose_b = true}
//   %b: f32[64,10] = broadcast(%bias) {dims = [1], shape = [64,10]}
//   %a: f32[64,10] = add(%y, %b)
//   %h: f32[64,10] = relu(%a)
//   ->
//   %h: f32[64,10] = call @matmul.broadcast.add.relu(%x, %w, %bias)
//
// The kernel's body stays the call's meaning. Its form says which library, in how many slices the work is cut (a
// function of the shapes, so that no number of threads changes a bit), and how much scratch the call takes. The libraries
// of the options are asked in order; the first that takes a node gets it. What none takes stays for fuse, with every
// library's reason.
//
// After layout, before fuse: fuse outlines everything that is left. Composites are gone by then: `expand` asks
// `select_composite` for each before it takes it apart.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool select(ir::Module& m, const Options& options);

// Gives the composite to the first library that takes it, as a call at the end of g.order: the caller sorts.
class KernelTable;
bool select_composite(KernelTable& kernels, ir::Graph& g, ir::NodeId composite, const Options& options);

}  // namespace heddle::passes
