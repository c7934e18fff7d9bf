#include "ir/gradient_flow.h"

#include <map>

namespace heddle::ir {
namespace {

// By name: operators are made at start-up, in any order.
std::map<std::string, GradientFlow, std::less<>>& registry() {
  static std::map<std::string, GradientFlow, std::less<>> flows;
  return flows;
}

}  // namespace

RegisterGradientFlow::RegisterGradientFlow(OpDef def, const GradientFlow& flow) {
  registry().emplace(def.name, flow);
  const RegisterOp registered(std::move(def));
}

const GradientFlow* gradient_flow(const OpDef& op) {
  const auto at = registry().find(op.name);
  return at == registry().end() ? nullptr : &at->second;
}

Values differentiable_operands(const Node& n) {
  const GradientFlow* flow = gradient_flow(*n.op);
  if (flow == nullptr || !flow->to) return n.operands;
  return *flow->to == GradientFlow::kNothing ? Values{} : Values{n.operands[static_cast<size_t>(*flow->to)]};
}

std::vector<char> reached_by_derivatives(const Graph& g, const Values& from) {
  std::vector<char> reached(g.value_count(), 0);
  for (const ValueId v : from) reached[static_cast<size_t>(v.index)] = 1;
  for (const NodeId id : g.order) {
    const Node& n = g[id];
    for (const ValueId v : differentiable_operands(n)) {
      if (!reached[static_cast<size_t>(v.index)]) continue;
      for (const ValueId r : n.results)
        if (is_floating(g[r].type.dtype)) reached[static_cast<size_t>(r.index)] = 1;
    }
  }
  return reached;
}

}  // namespace heddle::ir
