// mixes_rows: whether row i of a value depends, in its derivatives, only on row i of another value.
//
//   %y: f32[8,4] = matmul(%x, %w), %u: f32[8] = reduce_sum(%y) {axes = [1]}     ->   nothing: row 3 of %u reads row 3 of %x
//   %m: f32[4] = reduce_mean(%x) {axes = [0]}, %u = sub(%x, broadcast(%m)) ...  ->   the node of %m, which mixes rows
//
// If no rows are mixed, row i of the gradient of sum(%u) by %x is the gradient of row i alone. The analysis follows
// index maps, the decompositions of composites, and the bodies of scans. It is conservative: what it cannot prove
// counts as mixed.
#pragma once
#include <optional>
#include <vector>

#include "ir/op_def.h"

namespace heddle::ir {

// A node of `g` that mixes rows of `x` on the way to `u`; nothing if there is none. Rows lie along axis 0 of both.
std::optional<NodeId> mixes_rows(const Graph& g, const std::vector<Graph>& bodies, ValueId u, ValueId x);

}  // namespace heddle::ir
