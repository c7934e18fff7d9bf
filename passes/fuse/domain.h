// The iteration space of a kernel, with neighbouring dimensions merged where no operator tells them apart.
//
//   %b: f32[8,26,26,32] = broadcast(%bias: f32[32]); %y = add(%x, %b)          ->   [5408,32]
//   %t: f32[8,32,26,26] = transpose(%x: f32[8,26,26,32]) {perm = [0,3,1,2]}    ->   [8,32,676]
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace heddle::passes {

// Over `elements` points; nothing where operators cut it at places that do not fit one another.
std::optional<ir::Dims> merged_domain(const ir::Graph& kernel, int64_t elements);

// For a reduction that removes whole axes: which of the operand's; empty for windows and contractions.
std::vector<bool> reduced_axes(const ir::Graph& g, const ir::Node& n);

}  // namespace heddle::passes
