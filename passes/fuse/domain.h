// The iteration space of a kernel, with neighbouring dimensions merged where no operator distinguishes them.
//
//   %b: f32[8,26,26,32] = broadcast(%bias: f32[32]); %y = add(%x, %b)          ->   [5408,32]
//   %t: f32[8,32,26,26] = transpose(%x: f32[8,26,26,32]) {perm = [0,3,1,2]}    ->   [8,32,676]
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace heddle::passes {

// The dimensions of an iteration space with `elements` points; nullopt if the operators need dimensions that contradict
// each other.
std::optional<ir::Dims> merged_domain(const ir::Graph& kernel, int64_t elements);

// For a reduction over whole axes: by axis of the operand, whether it is reduced. Empty for all other nodes, such as
// windows and contractions.
std::vector<bool> reduced_axes(const ir::Graph& g, const ir::Node& n);

}  // namespace heddle::passes
