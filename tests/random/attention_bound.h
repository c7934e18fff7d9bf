// How far attention in blocks may be from its oracle: bounds of whole results, by the largest numbers of its operands.
#pragma once
#include "tests/random/operator_bound.h"

namespace heddle::testing {

bool is_attention(const ir::OpDef& op);  // whole, or in blocks
// Adds what rounding may change. Where an operand need not be finite nothing is promised: a key that a query does not see
// is left out in one form and multiplied by 0 in another.
void add_attention(const ir::Signature& s, const std::vector<const Bounded*>& operands, ir::Precision precision,
                   std::vector<std::vector<double>>& errors);

}  // namespace heddle::testing
