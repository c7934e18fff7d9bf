#include "ir/kernel/packets.h"

#include <algorithm>

namespace heddle::ir {

bool in_whole_packets(const IndexExpr& linear, int64_t packet) {
  return linear.constant % packet == 0 &&
         std::all_of(linear.terms.begin(), linear.terms.end(), [&](const IndexTerm& t) {
           return (t.kind == IndexTerm::Kind::dim && t.dim == kColumn) || t.coefficient % packet == 0;
         });
}

bool neighbours_in_packets(const IndexExpr& linear, int64_t packet) {
  const Coefficient column = coefficient(linear, kColumn);
  return column.affine && column.value == 1 && in_whole_packets(linear, packet);
}

bool loads_packet(const Packets& p, const IndexMap& at, const IndexExpr& linear) {
  const bool whole =
      std::none_of(at.guards.begin(), at.guards.end(), [](const Guard& g) { return depends_on(g.expr, kColumn); });
  return p.width > 1 && whole && (at.guards.empty() || !p.groups) && neighbours_in_packets(linear, p.width);
}

bool reads_packets(const Packets& p, const Graph& k, ValueId v, const IndexMap& at) {
  if (p.defined(v)) return false;
  const Node* n = k.def(v);
  if (n == nullptr) return loads_packet(p, at, linear_offset(at, k[v].type.dims));
  const std::vector<Read> reads = reads_at(k, *n, at);
  return std::any_of(reads.begin(), reads.end(), [&](const Read& r) { return reads_packets(p, k, r.value, r.at); });
}

bool reduces_packets(const Packets& p, const Graph& k, const Node& n, const ReductionAccess& access) {
  if (p.width == 1 || p.groups || product(access.loops) == 1) return false;
  for (size_t i = 0; i < n.operands.size(); ++i)
    if (!depends_on(access.operands[i], kColumn) || reads_packets(p, k, n.operands[i], access.operands[i])) return true;
  return false;
}

}  // namespace heddle::ir
