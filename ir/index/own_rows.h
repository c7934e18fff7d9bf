// Own rows: whether each row of a value has derivatives by its own row of another one alone.
//
//   %y: f32[8,4] = matmul(%x, %w), %u: f32[8] = reduce_sum(%y) {axes = [1]}     ->   nothing: row 3 of %u reads row 3 of %x
//   %m: f32[4] = reduce_mean(%x) {axes = [0]}, %u = sub(%x, broadcast(%m)) ...  ->   the node of %m, which mixes rows
//
// Then the gradient of the sum of %u by %x holds, row by row, the gradients of the rows. Index maps say it, composites
// are asked by their decomposition, scans by their body. What cannot be shown counts as mixed.
#pragma once
#include <optional>
#include <vector>

#include "ir/op_def.h"

namespace heddle::ir {

// The node of `g` where rows of `x` are mixed on the way to `u`; nothing where none are. Axis 0 of both holds the rows.
std::optional<NodeId> mixes_rows(const Graph& g, const std::vector<Graph>& bodies, ValueId u, ValueId x);

}  // namespace heddle::ir
