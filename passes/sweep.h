// Reverse accumulation through the nodes of one graph: what the gradient of a loss and that of a scan's body have in
// common.
//
//   %y = relu(%x), adjoint of %y: %y.grad   ->   %x.grad = select(gt(%y, 0), %y.grad, 0), adjoint of %x
#pragma once
#include <vector>

#include "ir/builder.h"
#include "ir/graph.h"

namespace heddle::passes {

// The nodes on paths from `wanted` to `reached`, in program order. Derivatives flow through floating values only.
// `depends`, by ValueId index: what depends on one of `wanted`.
struct Path {
  std::vector<ir::NodeId> nodes;
  std::vector<char> depends;
};
Path path_between(const ir::Graph& g, const ir::Values& wanted, const ir::Values& reached);
// Whether the nodes hold a composite that cannot differentiate itself: it becomes operators that can.
bool decompose_on_path(ir::Graph& g, const std::vector<ir::NodeId>& path);

// One sweep: what is built goes to the end of the graph's order, new bodies into the module.
struct Sweep {
  ir::Module& m;
  ir::Builder& b;
  std::vector<char> depends;          // of the path
  std::vector<ir::ValueId> adjoints;  // by ValueId index: the derivative with respect to it, as far as it is known
  size_t first_new = 0;               // values from here on are the sweep's own, and may be renamed

  ir::ValueId adjoint(ir::ValueId v) const;  // invalid: none has arrived
  void add(ir::ValueId v, ir::ValueId contribution);
  void back_through(ir::NodeId n);
};

}  // namespace heddle::passes
