// The role of each node in fusion: whether fuse groups it, copies it, or leaves it alone.
#pragma once
#include <vector>

#include "ir/graph.h"
#include "ir/kernel/target.h"

namespace heddle::passes {

enum class FusionRole {
  fixed,   // a call, or a movement of several pieces: never part of a group
  anchor,  // computed by exactly one group
  copied,  // cheap to compute from stored values: every group that reads it computes it again
  view,    // only renames bytes: stays a node of the graph; groups that compute its operand contain it, too
};

constexpr size_t kMostNodes = 64;  // nodes of a kernel: compilers take more than linear time on long chains
constexpr size_t kMostPointers =
    500;  // arguments of a kernel: 4 KB hold 512 pointers, including partial results and counters

struct FusionRoles {
  std::vector<FusionRole> of;  // by NodeId index
  std::vector<char>
      stored;  // copied nodes whose result must also exist in memory: a call, a view, `update` or `return` reads it
  std::vector<char> part;         // parts of a concatenation: each has a separate kernel, which writes its slice
  std::vector<ir::NodeId> apart;  // the concatenations with such parts
  std::vector<int> position;      // in g.order
  FusionRole operator()(ir::NodeId n) const {
    return ir::index_of(n) < of.size() ? of[ir::index_of(n)] : FusionRole::fixed;
  }
  bool roots_group(ir::NodeId n) const {
    return (*this)(n) == FusionRole::anchor || ((*this)(n) == FusionRole::copied && stored[ir::index_of(n)]);
  }
};
// Decides the role of each node. The figures of the target tell whether separate kernels for the parts of a
// concatenation are cheaper.
FusionRoles decide_roles(const ir::Graph& g, const ir::Target& target);

}  // namespace heddle::passes
