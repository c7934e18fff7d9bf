// Which axes of a value count the rows of a batch, and which the tokens of a row; and those of a node's operands, given
// those of its result.
//
//   %r: f32[128,32] {rows_tokens, other} = reshape(%x), %x: f32[2,64,32]   ->   %x has {rows, tokens, other}
//   %m: f32[2,32]   {rows, other}        = reduce_sum(%x) {axes = [1]}     ->   nothing: it adds up tokens
//
// Index maps say it: an operand's axis has a role where its coordinate is that of a row or a token and nothing else. So
// no operator is looked at by its name, and what is found is proved.
#pragma once
#include <optional>
#include <vector>

#include "ir/op_def.h"

namespace heddle::passes {

// rows_tokens: row * tokens + token, as a reshape of [rows, tokens] has it; tokens_rows the other way. rows_others: row *
// n + another, as a reshape of [rows, n] has it.
enum class AxisRole { other, rows, tokens, rows_tokens, tokens_rows, rows_others };
using AxisRoles = std::vector<AxisRole>;  // of each axis
struct AxisSizes {
  int64_t rows = 2, tokens = 2;  // 2 or more: of an axis of size 1 no map says which it is
  bool with_others = false;      // whether rows_others is a role
};

bool has_tokens(const AxisRoles& roles);
bool has_rows(const AxisRoles& roles);

// Nothing where elements are read of other rows or tokens than the result's, or it is not known which.
std::optional<AxisRoles> operand_roles(const ir::Graph& g, const ir::Node& n, size_t result, size_t operand,
                                       const AxisRoles& roles, const AxisSizes& sizes);

}  // namespace heddle::passes
