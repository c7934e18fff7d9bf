#include "frontend/instantiate/gradient_rows.h"

#include <fmt/format.h>

#include "frontend/keys/fields.h"
#include "ir/index/own_rows.h"

namespace heddle::frontend {
namespace {

void require_own_rows(const Instance& e, const NodeDef& node, const std::string& title, const ir::Node& gradient) {
  const auto where = ir::mixes_rows(e.graph, e.bodies, gradient.operands[0], gradient.operands[1]);
  if (!where) return;
  const std::string &u = node.in.at(0).name, &x = node.in.at(1).name;
  throw UserError(node.op_where,
                  fmt::format("{}: each row of {} needs a gradient of its own, but rows of {} meet on the way to it",
                              title, quote(u), quote(x)),
                  fmt::format("keep rows apart, as layer_norm does, or take the gradient of one number: {{\"op\": "
                              "\"sum\", \"in\": \"{}\"}}",
                              u),
                  {{Severity::note, e.graph[*where].loc, "rows meet here", {}, {}}});
}

}  // namespace

void require_own_rows(const Instance& e, const NodeDef& node, const std::string& title, size_t first) {
  for (size_t i = first; i < e.graph.order.size(); ++i) {
    const ir::Node& n = e.graph[e.graph.order[i]];
    const bool gradient = std::holds_alternative<ir::Gradient>(n.op->kind);
    if (gradient && e.graph[n.operands[0]].type.rank() > 0) require_own_rows(e, node, title, n);
  }
}

}  // namespace heddle::frontend
