#include "passes/sink.h"

#include "ir/builder.h"
#include "passes/rewrite.h"

namespace heddle::passes {
using namespace ir;

namespace {

// The relu that only `v` is made of, transposes aside, where nobody else reads what lies between; invalid otherwise.
NodeId relu_above(const Graph& g, ValueId v) {
  while (g.only_use(v).valid() && g[v].def.valid()) {
    const Node& n = g[g[v].def];
    if (n.op->name == "relu") return g[v].def;
    if (n.op->name != "transpose") break;
    v = n.operands[0];
  }
  return {};
}

// True when the pooling is gone; what takes its place is at the end of the order.
bool sink_above(Graph& g, NodeId id, const Options& options) {
  if (g[id].op->name != "max_pool2d" || !g.unused(g[id].results[1])) return false;
  const ValueId y = g[id].results[0];
  const NodeId above = relu_above(g, g[id].operands[0]);
  if (!above.valid() || g[y].type.elements() >= g[g[id].operands[0]].type.elements()) return false;
  const Node relu = g[above];
  g.set_operand(g.only_use(relu.results[0]), 0, relu.operands[0]);
  unlink(g, above);
  const Node pooling = g[id];  // a copy: building moves the array
  const std::string name = g[y].name;
  Builder b(g);
  b.prefix = name;
  b.loc = pooling.loc;
  const ValueId largest = b.multi("max_pool2d", pooling.operands, pooling.attrs)[0];
  b.loc = relu.loc;
  const ValueId rectified = b("relu", {largest});
  g.replace_uses(y, rectified);
  unlink(g, id);
  g.rename(rectified, name);
  options.note("sink", g, "%" + name, "relu is applied to the pooled image");
  return true;
}

}  // namespace

bool sink(Module& m, const Options& options) {
  bool changed = false;
  for (Graph& g : m.graphs) changed |= rewrite_nodes(g, [&](NodeId id) { return sink_above(g, id, options); });
  return changed;
}

}  // namespace heddle::passes
