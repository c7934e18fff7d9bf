// select: gives contractions, with the epilogue that follows them, and whole composites to libraries.
//
//   %y: f32[64,10] = matmul(%x, %w) {transpose_b = true}
//   %b: f32[64,10] = broadcast(%bias) {dims = [1], shape = [64,10]}
//   %a: f32[64,10] = add(%y, %b)
//   %h: f32[64,10] = relu(%a)
//   ->
//   %h: f32[64,10] = call @matmul.broadcast.add.relu(%x, %w, %bias)
//
// The kernel's body stays the call's meaning. Its schedule says which library, in how many slices the work is cut (a
// function of the shapes, so that no number of threads changes a bit), and how much scratch the call takes. All who can
// take a node offer a candidate (passes/select/offer.h), and what is predicted to take the least time gets it; fuse's
// text is one of them. A remark lists the candidates with their figures, or their reasons.
//
// After layout, before fuse: fuse outlines everything that is left. Composites are gone by then: `decompose` asks
// `select_composite` for each before it takes it apart.
#pragma once
#include <functional>

#include "ir/op_def.h"
#include "passes/pass.h"

namespace heddle::passes {

bool select(ir::Module& m, const Options& options);

// Gives the composite to the candidate that takes the least time. Where that is a call, it is at
// the end of g.order: the caller sorts. Else the composite is to be decomposed, in the way that is returned.
class KernelTable;
struct SelectedComposite {
  bool called = false;
  std::function<ir::Values(ir::Builder&, const ir::Node&)> parts = {};
};
SelectedComposite select_composite(KernelTable& kernels, ir::Graph& g, ir::NodeId composite, const Options& options);

}  // namespace heddle::passes
