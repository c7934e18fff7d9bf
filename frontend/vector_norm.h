// Norms along axes, whose gradient is 0 where they are 0, as PyTorch's. Layers and losses share them.
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

// (sum |x|^p)^(1 / p) over the axes, none where the list is empty; with p = 0 how many elements are not 0. p >= 0.
// Values are called `name`.WHAT. Gradients by torch.linalg.vector_norm.
ir::ValueId vector_norm(ir::Builder& b, const std::string& name, ir::ValueId x, const ir::Dims& axes, double p);
// norm(a - c + eps) over the last axis: torch.nn.functional.pairwise_distance.
ir::ValueId pair_distance(ir::Builder& b, const std::string& name, ir::ValueId a, ir::ValueId c, double p, double eps);
// The root of what is not negative; its gradient is 0 at 0, where that of sqrt is infinite.
ir::ValueId root_or_zero(ir::Builder& b, const std::string& name, ir::ValueId x);
// max(x, low) that passes the whole gradient to x: PyTorch clamps so what it clamps without a gradient.
ir::ValueId raised_to(ir::Builder& b, const std::string& name, ir::ValueId x, double low);

}  // namespace heddle::frontend
