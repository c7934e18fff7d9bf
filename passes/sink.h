// Sink: moves an operator behind its reader if there is less to compute there. It moves relu behind max pooling, and
// lookups behind matrix products. The pass runs before differentiate, so that gradients become smaller, too.
//
//   %r: f32[8,26,26,32] = relu(%x)                         %r: f32[8,13,13,32], %i: i32[8,13,13,32] = max_pool2d(%x)
//   %y: f32[8,13,13,32], %i: ... = max_pool2d(%r)    ->    %y: f32[8,13,13,32] = relu(%r)
//
// Relu is monotonic, so the largest element of a window stays the largest, bit for bit, including nan. The gradients
// are the same, too. If the window's largest element is nan or at most 0, both forms give it no gradient. If it is
// above 0, relu keeps the differences between elements, so pooling chooses the same element. Memory shrinks: relu's
// gradient reads the pooled image, so the full image is not needed after the pooling. The rule applies only if pooling
// is the only reader of relu's result (apart from transposes between them) and the index has no reader.
//
//   %x: f32[2560,128] = gather(%table, %i)                 %t: f32[32,512] = matmul(%table, %w)
//   %y: f32[2560,512] = matmul(%x, %w)               ->    %y: f32[2560,512] = gather(%t, %i)
//
// The product of a row depends on that row alone. So 32 products serve 2,560 rows if the table has 32 rows. The
// gradients become cheaper as well: rows of %y.grad with equal indices are added up, and two products of 32 rows give
// the gradients of the table and of %w. Transposes and reshapes between lookup and product are allowed if they keep
// each row whole; they are then applied to the indices. Nothing moves if the model asks for the gradient of the
// looked-up rows themselves.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool sink(ir::Module& m, const Options& options);

}  // namespace heddle::passes
