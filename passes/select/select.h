// select: gives contractions, with the epilogue that follows them, and whole composites to libraries.
//
//   %y: f32[64,10] = matmul(%x, %w) {transpose_b = true}
//   %b: f32[64,10] = broadcast(%bias) {dims = [1], shape = [64,10]}
//   %a: f32[64,10] = add(%y, %b)
//   %h: f32[64,10] = relu(%a)
//   ->
//   %h: f32[64,10] = call @matmul.broadcast.add.relu(%x, %w, %bias)
//
// The kernel's body still defines what the call computes. Its schedule holds the library, the number of slices, and the
// scratch bytes. The number of slices depends on the shapes alone, so results do not depend on the number of threads.
// Each way to execute a node is a candidate (passes/select/offer.h), also generated text, which fuse makes. The
// candidate with the least predicted time gets the node. A remark lists all candidates with their times or the reasons
// against them.
//
// The pass runs after layout and before fuse, which outlines all other nodes. By then there are no composites:
// `decompose` calls `select_composite` for each one before it decomposes it.
#pragma once
#include <functional>

#include "ir/op_def.h"
#include "passes/pass.h"

namespace heddle::passes {

bool select(ir::Module& m, const Options& options);

// Gives the composite to the candidate with the least time. If that is a call, it replaces the composite, at the end of
// g.order, and the caller must sort. Otherwise the caller must decompose the composite with the `parts` returned.
class KernelTable;
struct SelectedComposite {
  bool called = false;
  std::function<ir::Values(ir::Builder&, const ir::Node&)> parts = {};
};
SelectedComposite select_composite(KernelTable& kernels, ir::Graph& g, ir::NodeId composite, const Options& options);

}  // namespace heddle::passes
