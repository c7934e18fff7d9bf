// Vector norms along axes. Where a norm is 0, its gradient is 0, as in PyTorch. Layers and losses share them.
//
//   vector_norm(b, "d", %x: f32[N,3], {1}, 2)
//     ->  %d.squares = square(%x)
//         %d.sum = reduce_sum(%d.squares) {axes = [1]}
//         %d.is_zero = eq(%d.sum, 0)
//         %d.safe = select(%d.is_zero, 1, %d.sum)
//         %d.root = sqrt(%d.safe)
//         %d = select(%d.is_zero, 0, %d.root)
#pragma once
#include <string>

#include "ir/builder.h"

namespace heddle::frontend {

// (sum |x|^p)^(1 / p) over the axes, for p >= 0. With p = 0, the number of elements that are not 0. An empty list means
// no axes. Values are named `name`.WHAT. Gradients as in torch.linalg.vector_norm.
ir::ValueId vector_norm(ir::Builder& b, const std::string& name, ir::ValueId x, const ir::Dims& axes, double p);
// norm(a - c + eps) over the last axis: torch.nn.functional.pairwise_distance.
ir::ValueId pair_distance(ir::Builder& b, const std::string& name, ir::ValueId a, ir::ValueId c, double p, double eps);
// The square root of x >= 0. Its gradient at 0 is 0, where that of sqrt is infinite.
ir::ValueId root_or_zero(ir::Builder& b, const std::string& name, ir::ValueId x);
// max(x, low) that passes the whole gradient to x, like a clamp that PyTorch does without recording a gradient.
ir::ValueId raised_to(ir::Builder& b, const std::string& name, ir::ValueId x, double low);

}  // namespace heddle::frontend
