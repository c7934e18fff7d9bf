// Rewrites the nodes of a graph one after another, in time that does not depend on how many there are.
//
//   visit(%y = neg(%a)) builds %y.1 = relu(%x), lets it stand for %y and unlinks %y
//   order [.., %y, ..]    ->    [.., %y.1, ..], and %y.1 is visited next
#pragma once
#include <functional>

#include "ir/graph.h"

namespace heddle::passes {

// Erases a node in time that does not depend on the length of the order, where its entry stays until `drop_erased`.
void unlink(ir::Graph& g, ir::NodeId n);
// Where a live node stands in the order.
size_t place_of(const ir::Graph& g, ir::NodeId n);
// The last node of the order takes the place of another one, which stands at the end from then on.
void take_place(ir::Graph& g, ir::NodeId old);
// Drops the entries of erased nodes from the order.
void drop_erased(ir::Graph& g);

// While it lives, what is built goes to the end of g.order, and so before what stood at `place`;
// the rest of the order is put back once, not moved by each insertion.
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

// `visit` appends what it builds to g.order, which holds nothing else meanwhile, and says whether it has unlinked the
// node. Where it has, the new nodes take the node's place and are visited, too; else they come before it.
bool rewrite_nodes(ir::Graph& g, const std::function<bool(ir::NodeId)>& visit);

}  // namespace heddle::passes
