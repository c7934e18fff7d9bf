#include "ir/dependencies.h"

#include <algorithm>

namespace heddle::ir {

std::vector<char> dependencies(const Graph& g, const std::vector<ValueId>& of) {
  std::vector<char> reached(g.value_count(), 0);
  for (const ValueId v : of) reached[index_of(v)] = 1;
  for (auto it = g.order.rbegin(); it != g.order.rend(); ++it) {
    const Node& n = g[*it];
    if (std::ranges::none_of(n.results, [&](ValueId v) { return reached[index_of(v)] != 0; })) continue;
    for (const ValueId v : n.operands) reached[index_of(v)] = 1;
  }
  return reached;
}

}  // namespace heddle::ir
