#include "passes/memory/buffer_assignment.h"

#include <fmt/format.h>

#include "ir/kernel/plan_primitive.h"
#include "ir/storage/storage.h"
#include "passes/memory/old_states.h"
#include "passes/memory/pack_intervals.h"

namespace heddle::passes {
using namespace ir;

namespace {

// Checks that alias has placed each result that overwrites an operand; otherwise throws UserError.
void require_aliases(const Module& m, const Graph& g) {
  for (const NodeId id : g.order) {
    const Node& n = g[id];
    const Graph* k = n.callee.empty() ? nullptr : m.find_kernel(n.callee);
    if (k == nullptr) continue;
    for (const auto& [input, output] : overwritten_inputs(*k))
      if (!g[n.results[output]].place.base.valid())
        throw UserError(n.loc,
                        fmt::format("@{} writes over %{}: nothing says that %{} lies there", n.callee,
                                    g[n.operands[input]].name, g[n.results[output]].name),
                        "run the pass alias before assign_buffers");
  }
}

bool pack_graph(const Module& m, Graph& g, const Options& options) {
  require_aliases(m, g);
  const bool copied = copy_old_states(g);  // only has an effect if alias has not run
  const std::vector<ArenaItem> items = arena_items(m, g);
  std::vector<Buffer> buffers;
  buffers.reserve(items.size());
  for (const ArenaItem& item : items) buffers.push_back({item.bytes, item.parts});
  const Packing packing = pack_buffers(buffers, kArenaAlignment);
  bool changed = copied || g.arena_bytes != packing.bytes;
  g.arena_bytes = packing.bytes;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].root.valid()) {
      Place& place = g[items[i].root].place;
      changed |= place != Place{packing.offsets[i], {}};
      place = {packing.offsets[i], {}};
    } else {
      Attr& at = g[items[i].call].attrs["workspace_at"];
      changed |= at != Attr(packing.offsets[i]);
      at = packing.offsets[i];
    }
  }
  options.note("assign_buffers", g, "arena", fmt::format("{} bytes, at most {} live", packing.bytes, packing.max_live));
  return changed;
}

}  // namespace

bool assign_buffers(Module& m, const Options& options) {
  bool changed = false;
  for (Graph* g : m.all_graphs()) changed |= pack_graph(m, *g, options);  // a body's arena is scratch of its scans
  return changed;
}

}  // namespace heddle::passes
