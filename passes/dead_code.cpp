#include "passes/dead_code.h"

#include <algorithm>

#include "passes/rewrite.h"

namespace heddle::passes {

bool remove_dead_nodes(ir::Graph& g, size_t first) {
  bool changed = false;
  // Users come after what they use, so one walk from the end meets every node after its last user.
  for (size_t i = g.order.size(); i-- > 0;) {
    if (static_cast<size_t>(g.order[i].index) < first) continue;
    const std::vector<ir::ValueId>& results = g[g.order[i]].results;
    if (!std::all_of(results.begin(), results.end(), [&](ir::ValueId r) { return g.unused(r); })) continue;
    unlink(g, g.order[i]);
    changed = true;
  }
  if (changed) drop_erased(g);
  return changed;
}

}  // namespace heddle::passes
