// Reverse accumulation through the nodes of one graph. Gradients of losses and gradients of scan bodies share it.
//
//   %y = relu(%x), adjoint of %y: %y.grad   ->   %x.grad = select(gt(%y, 0), %y.grad, 0), adjoint of %x
#pragma once
#include <vector>

#include "ir/builder.h"
#include "ir/graph.h"

namespace heddle::passes {

// The nodes on paths from `wanted` to `reached`, in program order. Derivatives flow through floating values only.
// `depends`, by ValueId index: whether the value depends on one of `wanted`.
struct Path {
  std::vector<ir::NodeId> nodes;
  std::vector<char> depends;
};
Path path_between(const ir::Graph& g, const ir::Values& wanted, const ir::Values& reached);
// Decomposes the composites among the nodes that have no gradient function. Returns whether there were any.
bool decompose_on_path(ir::Graph& g, const std::vector<ir::NodeId>& path);

// One backward sweep. It appends nodes to the graph's order, and bodies of scans to the module.
struct Sweep {
  ir::Module& m;
  ir::Builder& b;
  std::vector<char> depends;          // of the path
  std::vector<ir::ValueId> adjoints;  // by ValueId index: the sum of the contributions so far
  size_t first_new = 0;               // values from this index on are made by the sweep, which may rename them

  ir::ValueId adjoint(ir::ValueId v) const;  // invalid if nothing has been contributed
  void add(ir::ValueId v, ir::ValueId contribution);
  void back_through(ir::NodeId n);
};

}  // namespace heddle::passes
