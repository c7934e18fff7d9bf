#include "passes/decompose.h"

#include <fmt/format.h>

#include "ir/builder.h"
#include "ir/check.h"
#include "passes/outline.h"
#include "passes/rewrite.h"
#include "passes/scan/rebuild.h"
#include "passes/select/select.h"

namespace heddle::passes {
using namespace ir;

namespace {

using Decomposition = std::function<Values(Builder&, const Node&)>;

bool is_decomposable(const Node& n) {
  return std::holds_alternative<Composite>(n.op->kind) && n.op->decomposition != nullptr;
}

// Appends the decomposition to the order and unlinks the node. Returns false if the decomposition is empty.
bool decompose_node(Graph& g, NodeId id, const Decomposition& decomposition) {
  const Node& node = g[id];
  const size_t first_new = g.value_count();
  Builder b(g);
  b.loc = node.loc;
  b.prefix = g[node.results[0]].name;
  const Values values = decomposition(b, node);
  if (values.empty()) return false;
  HEDDLE_CHECK(values.size() == node.results.size(),
               fmt::format("{}: the decomposition has other results", node.op->name));
  std::vector<std::string> names;
  for (size_t i = 0; i < values.size(); ++i) {
    HEDDLE_CHECK(g[values[i]].type == g[node.results[i]].type,
                 fmt::format("{}: the decomposition has another type", node.op->name));
    names.push_back(g[node.results[i]].name);
    g.replace_uses(node.results[i], values[i]);
  }
  unlink(g, id);
  for (size_t i = 0; i < values.size(); ++i)
    if (static_cast<size_t>(values[i].index) >= first_new) g.rename(values[i], names[i]);
  return true;
}

}  // namespace

bool decompose_nodes(Graph& g, const std::function<bool(NodeId)>& chosen) {
  return rewrite_nodes(g, [&](NodeId id) {
    if (!chosen(id) || !is_decomposable(g[id])) return false;
    return decompose_node(g, id, g[id].op->decomposition);
  });
}

// Libraries are also offered the composites inside of a decomposition: if no library takes an attention, one may take
// the softmax in it.
bool decompose(Module& m, const Options& options) {
  bool changed = false;
  KernelTable kernels(m);
  changed |= replace_indices(m);
  for (Graph* graph : m.all_graphs()) {
    Graph& g = *graph;
    bool taken = false;
    changed |= rewrite_nodes(g, [&](NodeId id) {
      const OpDef& op = *g[id].op;
      if (options.target.gpu && op.in_launches) return decompose_node(g, id, op.in_launches);
      if (!is_decomposable(g[id])) return false;
      const SelectedComposite selected = select_composite(kernels, g, id, options);
      if (!selected.called) return decompose_node(g, id, selected.parts);
      return taken = true;
    });
    if (taken) sort_topologically(g);
  }
  return changed;
}

}  // namespace heddle::passes
