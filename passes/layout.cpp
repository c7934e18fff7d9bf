#include "passes/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "passes/dead_code.h"
#include "passes/rewrite.h"
#include "passes/simplify/rules.h"
#include "passes/simplify/simplify.h"

namespace heddle::passes {
using namespace ir;

namespace {

using Rule = ValueId (*)(Builder&, const Node&);

Dims permuted(const Dims& list, const Dims& perm) {
  Dims out;
  for (const int64_t p : perm) out.push_back(list[static_cast<size_t>(p)]);
  return out;
}

// The permutation that swaps the last two dimensions.
bool swaps_last_two(const Dims& perm) {
  const auto rank = static_cast<int64_t>(perm.size());
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t expected = i == rank - 1 ? rank - 2 : i == rank - 2 ? rank - 1 : i;
    if (perm[static_cast<size_t>(i)] != expected) return false;
  }
  return rank >= 2;
}

Dims perm_of(const Node& n) { return n.op->traits.permutation(n); }

ValueId swapped_operand(const Graph& g, ValueId v) {
  const Node* n = defined_by(g, v, &Traits::permutation);
  return n != nullptr && swaps_last_two(perm_of(*n)) ? n->operands[0] : ValueId{};
}

bool flag(const Node& n, std::string_view name) { return std::get<bool>(attribute(*n.op, n.attrs, name)); }

Attrs transposing(const Node& matmul, bool a, bool b) {
  Attrs attrs = matmul.attrs;
  attrs["transpose_a"] = a, attrs["transpose_b"] = b;
  return attrs;
}

// matmul(transpose(a), b) -> matmul(a, b) {transpose_a}
ValueId fold_into_matmul(Builder& b, const Node& n) {
  if (!n.op->traits.matrix_product) return {};
  const ValueId x = swapped_operand(b.graph, n.operands[0]), y = swapped_operand(b.graph, n.operands[1]);
  if (!x.valid() && !y.valid()) return {};
  const bool ta = flag(n, "transpose_a") != x.valid(), tb = flag(n, "transpose_b") != y.valid();
  return b(n.op->name, {x.valid() ? x : n.operands[0], y.valid() ? y : n.operands[1]}, transposing(n, ta, tb));
}

// transpose(matmul(a, b)) -> matmul(b, a), with both transpose flags inverted and exchanged
ValueId turn_matmul(Builder& b, const Node& n) {
  const Node* product =
      n.op->traits.permutation ? defined_by(b.graph, n.operands[0], &Traits::matrix_product) : nullptr;
  if (product == nullptr || !swaps_last_two(perm_of(n))) return {};
  if (!b.graph.only_use(n.operands[0]).valid()) return {};
  const Attrs attrs = transposing(*product, !flag(*product, "transpose_b"), !flag(*product, "transpose_a"));
  return b(product->op->name, {product->operands[1], product->operands[0]}, attrs);
}

// The value u with v = transpose(u, perm); invalid if there is none. For a constant or a broadcast, builds u if
// `build`, else returns any valid value.
ValueId untransposed(Builder& b, ValueId v, const Dims& perm, bool build) {
  const Node* n = b.graph.def(v);
  if (n == nullptr) return {};
  const Dims dims = permuted(b.type(v).dims, inverse(perm));
  if (n->op->traits.permutation && perm_of(*n) == perm) return n->operands[0];
  if (const std::optional<double> value = splat(b.graph, v))
    return build ? b.constant(*value, {b.type(v).dtype, dims}) : v;
  if (!n->op->traits.spread) return {};
  Dims to;
  for (const int64_t d : n->op->traits.spread(*n)) to.push_back(perm[static_cast<size_t>(d)]);
  if (!std::is_sorted(to.begin(), to.end())) return {};
  return build ? b("broadcast", {ValueId(n->operands[0])}, {{"dims", to}, {"shape", dims}}) : v;
}

// The permutation that can be removed from all operands; empty if there is none.
Dims common_perm(Builder& b, const Node& n) {
  Dims perm;
  for (ValueId v : n.operands)
    if (const Node* t = defined_by(b.graph, v, &Traits::permutation); t != nullptr && perm.empty()) perm = perm_of(*t);
  if (perm.empty()) return {};
  for (ValueId v : n.operands)
    if (!untransposed(b, v, perm, false).valid()) return {};
  return perm;
}

Values untransposed_operands(Builder& b, const Node& n, const Dims& perm) {
  Values operands;
  for (ValueId v : n.operands) operands.push_back(untransposed(b, v, perm, true));
  return operands;
}

ValueId below_elementwise(Builder& b, const Node& n) {
  if (!std::holds_alternative<Elementwise>(n.op->kind) || n.results.size() != 1) return {};
  const Dims perm = common_perm(b, n);
  if (perm.empty()) return {};
  return b("transpose", {b(n.op->name, untransposed_operands(b, n, perm), n.attrs)}, {{"perm", perm}});
}

ValueId below_concat(Builder& b, const Node& n) {
  if (!n.op->traits.joined_along) return {};
  const Dims perm = common_perm(b, n);
  if (perm.empty()) return {};
  const int64_t axis = normal_axis(n.op->traits.joined_along(n), static_cast<int64_t>(perm.size()));
  const Values operands = untransposed_operands(b, n, perm);
  return b("transpose", {b("concat", operands, {{"axis", perm[static_cast<size_t>(axis)]}})}, {{"perm", perm}});
}

// Slices and pads: their lists with one entry per dimension are permuted like the dimensions.
ValueId below_window(Builder& b, const Node& n) {
  if (!n.op->traits.lists_by_axis) return {};
  const Node* t = defined_by(b.graph, n.operands[0], &Traits::permutation);
  if (t == nullptr) return {};
  const ValueId x = t->operands[0];
  const Dims perm = perm_of(*t), back = inverse(perm);
  Attrs attrs = n.attrs;
  for (auto& [name, value] : attrs)
    if (auto* list = std::get_if<Dims>(&value); list != nullptr && !list->empty()) *list = permuted(*list, back);
  return b("transpose", {b(n.op->name, {x}, attrs)}, {{"perm", perm}});
}

ValueId below_reduction(Builder& b, const Node& n) {
  if (!n.op->traits.removes_axes) return {};
  const Node* t = defined_by(b.graph, n.operands[0], &Traits::permutation);
  if (t == nullptr) return {};
  const ValueId x = t->operands[0];
  const Dims perm = perm_of(*t);
  const auto rank = static_cast<int64_t>(perm.size());
  const Dims removed = normal_axes(integers_of(n, "axes"), rank);
  Dims axes, kept;  // of x: what the reduction removes, and the rest in the result's order
  for (int64_t i = 0; i < rank; ++i) {
    const bool gone = std::find(removed.begin(), removed.end(), i) != removed.end();
    (gone ? axes : kept).push_back(perm[static_cast<size_t>(i)]);
  }
  Dims order;
  for (const int64_t d : kept)
    order.push_back(std::count_if(kept.begin(), kept.end(), [&](int64_t other) { return other < d; }));
  std::sort(axes.begin(), axes.end());
  const ValueId y = b(n.op->name, {x}, {{"axes", axes}});
  return std::is_sorted(order.begin(), order.end()) ? y : b("transpose", {y}, {{"perm", order}});
}

ValueId cancel(Builder& b, const Node& n) {
  return n.op->traits.permutation ? apply(movement_rules(), b, n) : ValueId{};
}

// Applies the rules until none fires.
bool rewrite(Graph& g, const std::vector<Rule>& rules) {
  const auto visit = [&](NodeId id) {
    const Node& n = g[id];
    Builder b(g);
    b.loc = n.loc;
    b.prefix = g[n.results[0]].name;
    const size_t first_new = g.value_count();
    ValueId with;
    for (size_t r = 0; r < rules.size() && !with.valid(); ++r) with = rules[r](b, n);
    const bool fresh = with.valid() && static_cast<size_t>(with.index) >= first_new;
    if (!with.valid() || (g.is_output(n.results[0]) && !fresh)) return false;  // a returned value keeps its name
    const std::string name = g[n.results[0]].name;
    g.replace_uses(n.results[0], with);
    unlink(g, id);
    if (fresh) g.rename(with, name);
    return true;
  };
  const bool changed = rewrite_nodes(g, visit);
  return remove_dead_nodes(g) || changed;
}

int64_t transposed_bytes(const Graph& g) {
  int64_t bytes = 0;
  for (NodeId id : g.order)
    if (g[id].op->traits.permutation) bytes += g[g[id].results[0]].type.bytes();
  return bytes;
}

bool layout_graph(Graph& g, const Options& options) {
  bool changed = false;
  while (rewrite(g, {fold_into_matmul, turn_matmul, cancel})) changed = true;
  if (transposed_bytes(g) == 0) return changed;
  Graph trial = g;
  while (rewrite(
      trial, {fold_into_matmul, turn_matmul, cancel, below_elementwise, below_concat, below_window, below_reduction})) {
  }
  const int64_t before = transposed_bytes(g), after = transposed_bytes(trial);
  options.note(
      "layout", g, "transposes",
      fmt::format("{} bytes transposed, {} after moving them{}", before, after, after < before ? "" : ": left"));
  if (after >= before) return changed;
  g = std::move(trial);
  return true;
}

}  // namespace

bool layout(Module& m, const Options& options) {
  bool changed = false;
  for (Graph* g : m.all_graphs()) changed |= layout_graph(*g, options);
  return changed;
}

}  // namespace heddle::passes
