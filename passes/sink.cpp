#include "passes/sink.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ir/builder.h"
#include "passes/rewrite.h"

namespace heddle::passes {
using namespace ir;

namespace {

// The node max(x, c) from which `v` is computed, possibly through transposes, if no other node reads the values
// between; otherwise invalid. max(x, c) is monotonic, so it can be applied after the pooling.
NodeId limit_above(const Graph& g, ValueId v) {
  while (g.only_use(v).valid() && g[v].def.valid()) {
    const Node& n = g[g[v].def];
    if (n.op->traits.at_least) return g[v].def;
    if (!n.op->traits.permutation) break;
    v = n.operands[0];
  }
  return {};
}

// Returns true if it replaced the pooling. The new nodes are then at the end of the order.
bool sink_limit(Graph& g, NodeId id, const Options& options) {
  if (!g[id].op->traits.largest_and_where || !g.unused(g[id].results[1])) return false;
  const ValueId y = g[id].results[0];
  const NodeId above = limit_above(g, g[id].operands[0]);
  if (!above.valid() || g[y].type.elements() >= g[g[id].operands[0]].type.elements()) return false;
  const Node limit = g[above];
  g.set_operand(g.only_use(limit.results[0]), 0, limit.operands[0]);
  unlink(g, above);
  const Node& pooling = g[id];
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

// A product with fewer terms costs about as much as moving its result.
constexpr int64_t kLeastTerms = 16;
// The table must have this many times fewer rows than are looked up in it.
constexpr int64_t kLeastShare = 2;

bool has_gradient(const Graph& g, ValueId v) {
  return std::ranges::any_of(g[v].uses, [&](NodeId n) { return std::holds_alternative<Gradient>(g[n].op->kind); });
}

// The lookup in a table that makes the rows of a product.
struct LookedUp {
  NodeId lookup;
  std::vector<NodeId> moves;  // reshapes and transposes of the rows between the two, the last one first
};

std::optional<LookedUp> looked_up(const Graph& g, ValueId rows) {
  LookedUp found;
  const int64_t width = g[rows].type.dims.back();
  while (g[rows].def.valid() && !has_gradient(g, rows)) {
    const NodeId id = g[rows].def;
    const Node& n = g[id];
    const Traits& traits = n.op->traits;
    const ValueId from = n.operands[0];
    const Dims& dims = g[from].type.dims;
    const auto rank = static_cast<int64_t>(dims.size());
    if (traits.rows_along != nullptr && rank == 2 && normal_axis(traits.rows_along(n), rank) == 0) {
      found.lookup = id;
      return found;
    }
    const bool keeps_rows = traits.reshapes ? rank > 1 && dims.back() == width
                                            : traits.permutation != nullptr && traits.permutation(n).back() == rank - 1;
    if (!keeps_rows) break;
    found.moves.push_back(id);
    rows = from;
  }
  return std::nullopt;
}

// Applies a move of the rows to their indices.
ValueId moved(Builder& b, ValueId indices, const Node& move) {
  if (move.op->traits.reshapes) {
    Dims dims = b.type(move.results[0]).dims;
    dims.pop_back();
    return b.reshape(indices, dims);
  }
  Dims perm = move.op->traits.permutation(move);
  perm.pop_back();
  return b(move.op->name, {indices}, {{"perm", perm}});
}

// Returns true if it replaced the product.
bool sink_lookup(Graph& g, NodeId id, const Options& options) {
  if (!g[id].op->traits.matrix_product || signature(g, g[id]).flag("transpose_a")) return false;
  const Node& product = g[id];
  const ValueId y = product.results[0];
  const Dims rows = g[product.operands[0]].type.dims, right = g[product.operands[1]].type.dims;
  if (rows.size() != 2 || right.size() != 2 || rows[1] < kLeastTerms) return false;
  const std::optional<LookedUp> found = looked_up(g, product.operands[0]);
  if (!found) return false;
  const Node& lookup = g[found->lookup];
  const ValueId table = lookup.operands[0];
  if (g[table].type.dims[0] > rows[0] / kLeastShare) return false;
  const std::string name = g[y].name;
  Builder b(g);
  b.prefix = name;
  b.loc = product.loc;
  const ValueId of_table = b(product.op->name, {table, product.operands[1]}, product.attrs, name + ".table");
  ValueId indices = lookup.operands[1];
  for (size_t k = found->moves.size(); k-- > 0;) indices = moved(b, indices, g[found->moves[k]]);
  const ValueId of_rows = b(lookup.op->name, {of_table, indices}, lookup.attrs);
  g.replace_uses(y, of_rows);
  unlink(g, id);
  g.rename(of_rows, name);
  options.note("sink", g, "%" + name,
               fmt::format("the product of {} rows of the table, not of {} that are looked up in it",
                           g[table].type.dims[0], rows[0]));
  return true;
}

}  // namespace

bool sink(Module& m, const Options& options) {
  bool changed = false;
  for (Graph* g : m.all_graphs())
    changed |=
        rewrite_nodes(*g, [&](NodeId id) { return sink_limit(*g, id, options) || sink_lookup(*g, id, options); });
  return changed;
}

}  // namespace heddle::passes
