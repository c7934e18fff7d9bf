// Lone rows: a program whose matrix products give each row the bits that it has alone, however many others there are.
//
//   onednn matmul f32[2,768], f32[50257,768] {batch_split = 1, transpose_b = 1}
//     ->   onednn matmul f32[2,768], f32[50257,768] {batch_split = 64, lone_rows = 1, transpose_b = 1}
//
// For a program that writes texts; the key is among Library::integers. A library that does not know the key gives rows
// other last places in other batches.
//
// The right side of such a product, a matrix of weights or a cache, is cut into slices by its bytes. Few rows have few
// operations for them, and so came in one slice, which one thread read alone. Neither bits nor the number of slices
// depend on the number of threads.
#pragma once
#include "codegen/program.h"

namespace heddle::codegen {

void ask_for_lone_rows(Program& program);

}  // namespace heddle::codegen
