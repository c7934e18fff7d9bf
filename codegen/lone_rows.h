// ask_for_lone_rows: lets the matrix products of a program compute each row with the same bits as in a batch of one
// row, however many rows there are.
//
//   onednn matmul f32[2,768], f32[50257,768] {batch_split = 1, transpose_b = 1}
//     ->   onednn matmul f32[2,768], f32[50257,768] {batch_split = 64, lone_rows = 1, transpose_b = 1}
//
// Programs that generate text use it. The key `lone_rows` goes into Library::integers. With a library that does not
// know the key, the last digits of a row may depend on the batch.
//
// The right side of such a product (a matrix of weights, or a cache) is also cut into slices by its size. Slices by
// operations would be too few: a product of few rows would be one slice, and one thread would read the whole right
// side. Neither the bits nor the number of slices depend on the number of threads.
#pragma once
#include "codegen/program.h"

namespace heddle::codegen {

void ask_for_lone_rows(Program& program);

}  // namespace heddle::codegen
