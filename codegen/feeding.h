// feeding: collects, from the nodes of a module's graphs, what a program states about entries that read their own
// batches.
//
//   %image: f32[128,784], %cursor.1: u64[6] = feed(%cursor) {column = 0, input = "image", stored = "u8", ...}
//     ->   column image: u8, and an input image of the entry where %image lies
#pragma once
#include <vector>

#include "codegen/lower_memory.h"
#include "codegen/program.h"
#include "ir/fed_column.h"

namespace heddle::codegen {

// A value of an entry that one of its kernels makes from rows of a column.
struct FedValue {
  ir::FedInput fed;
  ir::ValueId value;
};
std::vector<FedValue> fed_values(const ir::Module& m, const ir::Graph& entry);

// The program's Feeding; without columns if no entry reads its own batches.
Feeding feeding(const ir::Module& m, const StateTable& states);

}  // namespace heddle::codegen
