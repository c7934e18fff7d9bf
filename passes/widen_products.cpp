#include "passes/widen_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/builder.h"
#include "passes/rewrite.h"

namespace heddle::passes {
using namespace ir;

namespace {

bool is_narrow(DType dtype) { return dtype == DType::bf16 || dtype == DType::f16; }

class Widening {
 public:
  Widening(Graph& g, const Options& options) : g_(g), options_(options), b_(g) {}
  bool run() {
    return rewrite_nodes(g_, [&](NodeId n) { return visit(n); });
  }

 private:
  bool visit(NodeId id) {
    const Node& n = g_[id];
    if (!std::holds_alternative<Contraction>(n.op->kind) || !is_narrow(g_[n.operands[0]].type.dtype)) return false;
    const DType dtype = g_[n.operands[0]].type.dtype;
    const std::string name = g_[n.results[0]].name;
    b_.loc = n.loc;
    Values wide;
    for (const ValueId v : n.operands) wide.push_back(widened(v));
    Attrs attrs = n.attrs;
    if (dtype == DType::bf16) attrs["precision"] = to_string(dtype);
    const ValueId product = b_(n.op->name, wide, attrs, name + ".f32");
    const ValueId result = n.results[0];
    options_.note(
        "widen_products", g_, "%" + name,
        fmt::format("a product of f32 on converted copies: libraries on the host have none of {}", to_string(dtype)));
    if (!pass_on(result, product)) {
      const ValueId narrow = b_.cast(product, dtype);
      g_.replace_uses(result, narrow);
      unlink(g_, id);
      g_.rename(narrow, name);
    } else {
      unlink(g_, id);
    }
    return true;
  }

  // If every reader casts the result to f32, lets them read the product itself. Returns whether it did.
  bool pass_on(ValueId result, ValueId product) {
    const auto widens = [&](NodeId use) {
      return g_[use].op->traits.converts && g_[g_[use].results[0]].type.dtype == DType::f32;
    };
    const std::vector<NodeId> uses = g_[result].uses;
    if (uses.empty() || g_.is_output(result) || g_.is_next(result) || !std::ranges::all_of(uses, widens)) return false;
    for (const NodeId use : uses) {
      const ValueId wide = g_[use].results[0];
      const std::string name = g_[wide].name;
      g_.replace_uses(wide, product);
      unlink(g_, use);
      if (use == uses[0]) g_.rename(product, name);
    }
    return true;
  }

  // Whether the value exists in memory anyway: an input or state of the graph, a result of a scan, or a movement of
  // one.
  bool is_given(ValueId v) const {
    const Node* n = g_.def(v);
    while (n != nullptr && std::holds_alternative<Movement>(n->op->kind) && n->operands.size() == 1)
      n = g_.def(n->operands[0]);
    return n == nullptr || std::holds_alternative<Scan>(n->op->kind);
  }

  ValueId widened(ValueId v) {
    const Node* n = g_.def(v);
    if (n != nullptr && n->op->traits.converts && g_[n->operands[0]].type.dtype == DType::f32 &&
        is_given(n->operands[0]))
      return n->operands[0];
    ValueId& known = wide_[v];
    if (known.valid()) return known;
    return known = b_("cast", {v}, {{"dtype", std::string("f32")}}, g_[v].name + ".f32");
  }

  Graph& g_;
  const Options& options_;
  Builder b_;
  std::map<ValueId, ValueId> wide_;
};

}  // namespace

bool widen_products(Module& m, const Options& options) {
  if (options.target.gpu || options.libraries.empty()) return false;
  bool changed = false;
  for (Graph* g : m.all_graphs()) changed |= Widening(*g, options).run();
  return changed;
}

}  // namespace heddle::passes
