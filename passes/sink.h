// Sink: moves relu behind max pooling, where there is less to compute and less to keep for the
// gradient.
//
//   %r: f32[8,26,26,32] = relu(%x)                         %r: f32[8,13,13,32], %i: i32[8,13,13,32] = max_pool2d(%x)
//   %y: f32[8,13,13,32], %i: ... = max_pool2d(%r)    ->    %y: f32[8,13,13,32] = relu(%r)
//
// Relu never turns an order around, so the largest of a window stays the largest, bit for bit, nan
// included. The gradients are the same, too: where the window's largest element is 0, less or nan,
// both give it none; above 0, relu keeps every difference between elements, so pooling chooses the
// same one. What is no longer needed after the pooling is the whole image: relu's gradient asks for
// the pooled one. Only where pooling alone reads relu's result, transposes between them aside, and
// nobody reads the index; hence before differentiate.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool sink(ir::Module& m, const Options& options);

}  // namespace heddle::passes
