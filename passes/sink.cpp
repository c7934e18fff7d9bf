#include "passes/sink.h"

#include "ir/builder.h"
#include "passes/rewrite.h"

namespace heddle::passes {
using namespace ir;

namespace {

// The lower limit that only `v` is made of, transposes aside, where nobody else reads what lies
// between; invalid otherwise. Which of two is larger does not change by max(x, c), so it may as
// well be taken of the largest alone.
NodeId limit_above(const Graph& g, ValueId v) {
  while (g.only_use(v).valid() && g[v].def.valid()) {
    const Node& n = g[g[v].def];
    if (n.op->traits.at_least) return g[v].def;
    if (!n.op->traits.permutation) break;
    v = n.operands[0];
  }
  return {};
}

// True when the pooling is gone; what takes its place is at the end of the order.
bool sink_above(Graph& g, NodeId id, const Options& options) {
  if (!g[id].op->traits.largest_and_where || !g.unused(g[id].results[1])) return false;
  const ValueId y = g[id].results[0];
  const NodeId above = limit_above(g, g[id].operands[0]);
  if (!above.valid() || g[y].type.elements() >= g[g[id].operands[0]].type.elements()) return false;
  const Node limit = g[above];
  g.set_operand(g.only_use(limit.results[0]), 0, limit.operands[0]);
  unlink(g, above);
  const Node pooling = g[id];  // a copy: building moves the array
  const std::string name = g[y].name;
  Builder b(g);
  b.prefix = name;
  b.loc = pooling.loc;
  const ValueId largest = b.multi(pooling.op->name, pooling.operands, pooling.attrs)[0];
  b.loc = limit.loc;
  const ValueId limited = b(limit.op->name, {largest}, limit.attrs);
  g.replace_uses(y, limited);
  unlink(g, id);
  g.rename(limited, name);
  options.note("sink", g, "%" + name, limit.op->name + " is applied to the pooled image");
  return true;
}

}  // namespace

bool sink(Module& m, const Options& options) {
  bool changed = false;
  for (Graph* g : m.all_graphs()) changed |= rewrite_nodes(*g, [&](NodeId id) { return sink_above(*g, id, options); });
  return changed;
}

}  // namespace heddle::passes
