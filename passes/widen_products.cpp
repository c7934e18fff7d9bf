#include "passes/widen_products.h"

#include <fmt/format.h>

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
    const Node n = g_[id];  // a copy: building moves the array
    if (!std::holds_alternative<Contraction>(n.op->kind) || !is_narrow(g_[n.operands[0]].type.dtype)) return false;
    const DType dtype = g_[n.operands[0]].type.dtype;
    const std::string name = g_[n.results[0]].name;
    b_.loc = n.loc;
    Values wide;
    for (const ValueId v : n.operands) wide.push_back(widened(v));
    Attrs attrs = n.attrs;
    if (dtype == DType::bf16) attrs["precision"] = to_string(dtype);
    const ValueId product = b_(n.op->name, wide, attrs, name + ".f32");
    const ValueId result = b_.cast(product, dtype);
    g_.replace_uses(n.results[0], result);
    options_.note(
        "widen_products", g_, "%" + name,
        fmt::format("a product of f32 on converted copies: libraries on the host have none of {}", to_string(dtype)));
    unlink(g_, id);
    g_.rename(result, name);
    return true;
  }

  ValueId widened(ValueId v) {
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
