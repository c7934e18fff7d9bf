#include "passes/rewrite.h"

#include <algorithm>
#include <utility>

namespace heddle::passes {

void unlink(ir::Graph& g, ir::NodeId n) {
  std::vector<ir::NodeId> order = std::exchange(g.order, {n});  // erase searches the order: here it has one entry
  g.erase(n);
  g.order = std::move(order);
}

size_t place_of(const ir::Graph& g, ir::NodeId n) {
  return static_cast<size_t>(std::ranges::find(g.order, n) - g.order.begin());
}

void take_place(ir::Graph& g, ir::NodeId old) { std::swap(g.order[place_of(g, old)], g.order.back()); }

void drop_erased(ir::Graph& g) {
  std::erase_if(g.order, [&](ir::NodeId n) { return g[n].erased; });
}

BuildBefore::BuildBefore(ir::Graph& g, size_t place)
    : g_(g), rest_(g.order.begin() + static_cast<std::ptrdiff_t>(place), g.order.end()) {
  g.order.resize(place);
}
BuildBefore::~BuildBefore() { g_.order.insert(g_.order.end(), rest_.begin(), rest_.end()); }

bool rewrite_nodes(ir::Graph& g, const std::function<bool(ir::NodeId)>& visit) {
  std::vector<ir::NodeId> done, waiting(g.order.rbegin(), g.order.rend());
  bool changed = false;
  while (!waiting.empty()) {
    const ir::NodeId id = waiting.back();
    waiting.pop_back();
    if (g[id].erased) continue;
    g.order.clear();
    if (visit(id)) {
      waiting.insert(waiting.end(), g.order.rbegin(), g.order.rend());
      changed = true;
    } else {
      done.insert(done.end(), g.order.begin(), g.order.end());
      done.push_back(id);
    }
  }
  g.order = std::move(done);
  drop_erased(g);
  return changed;
}

}  // namespace heddle::passes
