// Sink: moves an operator behind its reader, where there is less to compute. It moves relu behind max pooling, and
// lookups behind matrix products. Before differentiate, whose gradients are then smaller, too.
//
//   %r: f32[8,26,26,32] = relu(%x)                         %r: f32[8,13,13,32], %i: i32[8,13,13,32] = max_pool2d(%x)
//   %y: f32[8,13,13,32], %i: ... = max_pool2d(%r)    ->    %y: f32[8,13,13,32] = relu(%r)
//
// Relu never turns an order around, so the largest of a window stays the largest, bit for bit, nan
// included. The gradients are the same, too: where the window's largest element is 0, less or nan,
// both give it none; above 0, relu keeps every difference between elements, so pooling chooses the
// same one. What is no longer needed after the pooling is the whole image: relu's gradient asks for
// the pooled one. Only where pooling alone reads relu's result, transposes between them aside, and
// nobody reads the index.
//
//   %x: f32[2560,128] = gather(%table, %i)                 %t: f32[32,512] = matmul(%table, %w)
//   %y: f32[2560,512] = matmul(%x, %w)               ->    %y: f32[2560,512] = gather(%t, %i)
//
// The product of a row depends on that row alone. So 32 products serve 2,560 rows where the table has 32 rows. The
// gradients follow: rows of %y.grad are added up where their index is the same, and two products of 32 rows give
// the gradients of the table and of %w. Between the two may be transposes and reshapes that keep each row whole:
// the indices are moved instead. Where someone asks for the gradient of the rows themselves, they stay.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool sink(ir::Module& m, const Options& options);

}  // namespace heddle::passes
