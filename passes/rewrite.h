// Rewriting of a graph node by node. The time per node does not depend on the size of the graph.
//
//   visit(%y = neg(%a)) builds %y.1 = relu(%x), lets it stand for %y and unlinks %y
//   order [.., %y, ..]    ->    [.., %y.1, ..], and %y.1 is visited next
#pragma once
#include <functional>

#include "ir/graph.h"

namespace heddle::passes {

// Erases a node in constant time. Its entry in the order stays until `drop_erased`.
void unlink(ir::Graph& g, ir::NodeId n);
// The position of a live node in the order.
size_t place_of(const ir::Graph& g, ir::NodeId n);
// Exchanges the last node of the order with `old`.
void take_place(ir::Graph& g, ir::NodeId old);
// Drops the entries of erased nodes from the order.
void drop_erased(ir::Graph& g);

// Takes the order from `place` on away, and puts it back when destroyed. In between, nodes appended to g.order stand
// before `place`. So the rest of the order moves once, not with each insertion.
class BuildBefore {
 public:
  BuildBefore(ir::Graph& g, size_t place);
  ~BuildBefore();
  BuildBefore(const BuildBefore&) = delete;
  BuildBefore& operator=(const BuildBefore&) = delete;

 private:
  ir::Graph& g_;
  std::vector<ir::NodeId> rest_;
};

// Calls `visit` for each node. It appends new nodes to g.order, which holds nothing else meanwhile, and returns whether
// it has unlinked the node. If so, the new nodes take the node's place and are visited, too; otherwise they come before
// it. Returns whether any node was unlinked.
bool rewrite_nodes(ir::Graph& g, const std::function<bool(ir::NodeId)>& visit);

}  // namespace heddle::passes
