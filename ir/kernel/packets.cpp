#include "ir/kernel/packets.h"

#include <algorithm>

#include "ir/kernel/access.h"

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

}  // namespace heddle::ir
