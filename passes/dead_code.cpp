#include "passes/dead_code.h"

#include <algorithm>

namespace heddle::passes {

bool remove_dead_nodes(ir::Graph& g, size_t first) {
  bool changed = false;
  const std::vector<ir::NodeId> order = g.order;
  // Users come after what they use, so one walk from the end meets every node after its last user.
  for (size_t i = order.size(); i-- > 0;) {
    if (static_cast<size_t>(order[i].index) < first) continue;
    const std::vector<ir::ValueId>& results = g[order[i]].results;
    if (!std::all_of(results.begin(), results.end(), [&](ir::ValueId r) { return g.unused(r); })) continue;
    g.erase(order[i]);
    changed = true;
  }
  return changed;
}

}  // namespace heddle::passes
