#include "passes/sink.h"

#include "ir/builder.h"
#include "passes/dead_code.h"
#include "passes/rewrite.h"
#include "passes/simplify/rules.h"

namespace heddle::passes {
using namespace ir;

namespace {

// A relu and the transposes on the way from it to its only reader, the last one first.
struct Path {
  const Node* relu = nullptr;
  std::vector<const Node*> transposes;
};

Path path_to_relu(const Graph& g, ValueId v) {
  Path path;
  for (; g.only_use(v).valid(); v = path.transposes.back()->operands[0]) {
    if ((path.relu = defined_by(g, v, "relu")) != nullptr) break;
    const Node* t = defined_by(g, v, "transpose");
    if (t == nullptr) break;
    path.transposes.push_back(t);
  }
  return path;
}

// What stands on the path, built again without the relu.
ValueId without_relu(Builder& b, const Path& path) {
  ValueId x = path.relu->operands[0];
  std::vector<Attrs> attrs;  // a copy: building moves the array of nodes
  for (const Node* t : path.transposes) attrs.insert(attrs.begin(), t->attrs);
  for (const Attrs& a : attrs) x = b("transpose", {x}, a);
  return x;
}

// True when the pooling is gone; what takes its place is at the end of the order.
bool sink_above(Graph& g, NodeId id, const Options& options) {
  const Node pooling = g[id];  // a copy: building moves the array
  if (pooling.op->name != "max_pool2d" || !g.unused(pooling.results[1])) return false;
  const Path path = path_to_relu(g, pooling.operands[0]);
  const ValueId y = pooling.results[0];
  if (path.relu == nullptr || g[y].type.elements() >= g[pooling.operands[0]].type.elements()) return false;
  Builder b(g);
  b.loc = pooling.loc;
  b.prefix = g[y].name;
  const Location of_relu = path.relu->loc;
  const Values pooled = b.multi("max_pool2d", {without_relu(b, path)}, pooling.attrs, {});
  b.loc = of_relu;
  const ValueId rectified = b("relu", {pooled[0]});
  const std::string name = g[y].name;
  g.replace_uses(y, rectified);
  unlink(g, id);
  g.rename(rectified, name);
  options.note("sink", g, "%" + name, "relu is applied to the pooled image");
  return true;
}

}  // namespace

bool sink(Module& m, const Options& options) {
  bool changed = false;
  for (Graph& g : m.graphs) {
    if (!rewrite_nodes(g, [&](NodeId id) { return sink_above(g, id, options); })) continue;
    remove_dead_nodes(g);
    changed = true;
  }
  return changed;
}

}  // namespace heddle::passes
