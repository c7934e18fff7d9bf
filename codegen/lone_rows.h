// Lone rows: a program whose matrix products give each row the bits that it has alone, however many others there are.
//
//   onednn matmul {transpose_b = 1}   ->   onednn matmul {lone_rows = 1, transpose_b = 1}
//
// For a program that writes texts; the key is among Library::integers. A library that does not know the key gives rows
// other last places in other batches.
#pragma once
#include "codegen/program.h"

namespace heddle::codegen {

void ask_for_lone_rows(Program& program);

}  // namespace heddle::codegen
