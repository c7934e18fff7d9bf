// resident_cell: finds the recurrent cell of a loop, and plans it as one phase of a persistent kernel. A cell is a
// product of the carried value with weights that do not change, and the pointwise kernel after it. A block has the same
// units in every turn: all of their gates, and all rows. So it reads their weights once, into shared memory, and the
// pointwise kernel finds its gates in the same block. Only the carried value goes from block to block. It alternates
// between two places, so that one barrier per turn is enough.
//
//   loop 128 {matmul(h, w -> gates); cell(gates, x[t], c -> c, h)}
//     ->   for each turn { slices of 4 units: {gates = h w'; cell} | }        h in one place, and in the other one
//
// Results have the same bits as with separate launches, because each sum keeps its order.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "codegen/program.h"
#include "ir/graph.h"
#include "ir/kernel/target.h"

namespace heddle::codegen {

constexpr int64_t kBlocksOfSm =
    2;  // blocks of a persistent kernel on a multiprocessor, at least; 2 * 128 threads fit with 255 registers each

struct ResidentCell {
  // Indices of the loop's steps. `product`, `cell` and `copy` become the phase; the steps `beside` run beside it.
  size_t product = 0;
  std::optional<size_t> cell,
      copy;  // no cell: the product makes the carried value; the copy of the value for the next turn is left out
  std::vector<size_t> beside;
  size_t product_arrays = 0;  // arrays of the product's launch, without its scratch
  UnitSlice slice;
  int64_t slices = 1;
  Argument value;                // the carried value, at its place before the first turn and after the last one
  std::optional<Address> other;  // its other place, if the loop has one; else the caller must reserve it
  int64_t sums_bytes = 0, weights_bytes = 0;    // of shared memory
  int64_t read_once = 0;                        // bytes of weights, in all blocks together
  std::string product_function, cell_function;  // names of the functions of emit_slice; the caller sets them
  double seconds = 0;                           // predicted, for the phase in one turn, without its barrier
};

// Whether a block for each slice can run at the same time. Each block has `tiles_bytes` of shared memory before its
// weights.
bool fits(const ResidentCell& cell, int64_t tiles_bytes, const ir::Target& target);

// The cell of a loop; nothing if its steps are not such a cell, and `reason` says why.
std::optional<ResidentCell> resident_cell(const ir::Module& m, const Program& program, const Loop& loop,
                                          const ir::Target& target, std::string& reason);

}  // namespace heddle::codegen
