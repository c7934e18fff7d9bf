#include "frontend/instantiate/mixed.h"

#include <algorithm>

#include "ir/ops/precision.h"

namespace heddle::frontend {

using ir::ValueId;

namespace {

// A cast of v to its own type that an earlier reader has added; invalid if there is none.
ValueId cast_to_itself(const ir::Graph& g, ValueId v) {
  for (const ir::NodeId use : g[v].uses)
    if (g[use].op->traits.converts && g[g[use].results[0]].type == g[v].type) return g[use].results[0];
  return {};
}

}  // namespace

bool computes_in_f32(const NodeDef& node) {
  return std::ranges::any_of(node.settings, [](const Json& setting) { return setting.key == kCompute; });
}

bool is_mixed(const Model& model) { return ir::mixed_type(model.train.precision).has_value(); }

void mark_products(ir::Graph& g, size_t first, const std::string& precision) {
  for (size_t i = first; i < g.order.size(); ++i) {
    ir::Node& n = g[g.order[i]];
    if (n.op->find_attr("precision") != nullptr && g[n.operands[0]].type.dtype == ir::DType::f32)
      n.attrs["precision"] = precision;
  }
}

ValueId fixed_in_f32(Instance& e, const Model& model, ValueId v) {
  ir::Graph& g = e.graph;
  if (!is_mixed(model) || g.def(v) == nullptr || g[v].type.dtype != ir::DType::f32) return v;
  if (const ValueId known = cast_to_itself(g, v); known.valid()) return known;
  ir::Builder b(g);
  b.loc = g.def(v)->loc;
  const ValueId fixed = b("cast", {v}, {{"dtype", std::string("f32")}}, g[v].name + ".f32");
  if (const auto made_by = e.made_by.find(v); made_by != e.made_by.end()) e.made_by[fixed] = made_by->second;
  if (const auto place = e.places.find(v); place != e.places.end()) e.places[fixed] = place->second;
  return fixed;
}

}  // namespace heddle::frontend
