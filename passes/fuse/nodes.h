// What fuse may do with each node.
#pragma once
#include <vector>

#include "ir/graph.h"
#include "ir/kernel/target.h"

namespace heddle::passes {

enum class FusionRole {
  fixed,   // a call, or a movement of several pieces: stays as it is
  anchor,  // computed by exactly one group
  copied,  // cheap from what lies in memory: every group that reads it computes its own
  view,    // only renames bytes: stays a plain node, groups that compute its operand contain it too
};

constexpr size_t kMostNodes = 64;  // of a kernel: compilers take more than linear time on long chains
constexpr size_t kMostPointers =
    500;  // that it takes: 4 KB of arguments hold 512, partial results and counters among them

struct FusionRoles {
  std::vector<FusionRole> of;  // by NodeId index
  std::vector<char>
      stored;  // copied nodes whose result must also exist in memory: a call, a view, `update` or `return` reads it
  std::vector<char> part;  // computed parts of a concatenation: each has a kernel of its own, which writes its slice
  std::vector<ir::NodeId> apart;  // those concatenations
  std::vector<int> position;      // in g.order
  FusionRole operator()(ir::NodeId n) const {
    return ir::index_of(n) < of.size() ? of[ir::index_of(n)] : FusionRole::fixed;
  }
  bool roots_group(ir::NodeId n) const {
    return (*this)(n) == FusionRole::anchor || ((*this)(n) == FusionRole::copied && stored[ir::index_of(n)]);
  }
};
// The target's figures say whether the parts of a concatenation are cheaper apart.
FusionRoles decide_roles(const ir::Graph& g, const ir::Target& target);

}  // namespace heddle::passes
