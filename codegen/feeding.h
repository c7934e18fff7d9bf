// What a program says of the entries that feed themselves: found in the graphs, whose nodes are its one source.
//
//   %image: f32[128,784], %cursor.1: u64[6] = feed(%cursor) {column = 0, input = "image", stored = "u8", ...}
//     ->   column image: u8, and an input image of the entry where %image lies
#pragma once
#include <vector>

#include "codegen/lower_memory.h"
#include "codegen/program.h"
#include "ir/fed_column.h"

namespace heddle::codegen {

// A value of an entry that is made of rows of a column, by a kernel that it calls.
struct FedValue {
  ir::FedInput fed;
  ir::ValueId value;
};
std::vector<FedValue> fed_values(const ir::Module& m, const ir::Graph& entry);

// Without columns where no entry feeds itself.
Feeding feeding(const ir::Module& m, const StateTable& states);

}  // namespace heddle::codegen
