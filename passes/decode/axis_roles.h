// Axis roles: which axes of a value enumerate the rows of a batch, and which the tokens of a row. The file derives the
// roles of a node's operands from those of its result.
//
//   %r: f32[128,32] {rows_tokens, other} = reshape(%x), %x: f32[2,64,32]   ->   %x has {rows, tokens, other}
//   %m: f32[2,32]   {rows, other}        = reduce_sum(%x) {axes = [1]}     ->   nothing: it adds up tokens
//
// The roles follow from index maps: an operand's axis has a role if its coordinate is exactly that of a row or a token.
// So no rule depends on an operator's name, and every role found is proved.
#pragma once
#include <optional>
#include <vector>

#include "ir/op_def.h"

namespace heddle::passes {

// rows_tokens: row * tokens + token, as after a reshape of [rows, tokens]. tokens_rows: token * rows + row.
// rows_others: row * n + another index, as after a reshape of [rows, n].
enum class AxisRole { other, rows, tokens, rows_tokens, tokens_rows, rows_others };
using AxisRoles = std::vector<AxisRole>;  // one per axis
struct AxisSizes {
  int64_t rows = 2, tokens = 2;  // at least 2: the role of an axis of size 1 does not show in a map
  bool with_others = false;      // whether the role rows_others is allowed
};

bool has_tokens(const AxisRoles& roles);
bool has_rows(const AxisRoles& roles);

// The roles of the axes of operand `operand`, if the axes of result `result` have `roles`. nullopt if an element of the
// result reads other rows or tokens than its own, or if that is unknown.
std::optional<AxisRoles> operand_roles(const ir::Graph& g, const ir::Node& n, size_t result, size_t operand,
                                       const AxisRoles& roles, const AxisSizes& sizes);

}  // namespace heddle::passes
