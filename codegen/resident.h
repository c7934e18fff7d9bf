// Recurrent cells of a loop: a product of a value that turns hand on with weights that stay the same, and the pointwise kernel behind
// it, as one phase of a persistent kernel. A block has the same units in every turn: all gates of them, and all rows. So it reads
// their weights once, into shared memory, the pointwise kernel finds its gates in the same block, and only the handed-on value goes
// from block to block. It lies in two places by turns, so that one barrier a turn is enough.
//
//   loop 128 {matmul(h, w -> gates); cell(gates, x[t], c -> c, h)}
//     ->   for each turn { slices of 4 units: {gates = h w'; cell} | }        h in one place, and in the other one
//
// The bits are those of the launches: each sum has the order of the product's own text.
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
    2;  // of a persistent kernel, at least, whatever registers the texts want: 2 * 128 threads of 255 each

struct ResidentCell {
  // Of the loop's steps, as indices: what the phase is made of, and what runs beside it.
  size_t product = 0;
  std::optional<size_t> cell,
      copy;  // a product may leave the value itself; a copy to where the next turn reads it falls away
  std::vector<size_t> beside;
  size_t product_arrays = 0;  // of the product's launch: its scratch is behind them
  UnitSlice slice;
  int64_t slices = 1;
  Argument value;                // that turns hand on, where it lies before the first turn and behind the last one
  std::optional<Address> other;  // its other place, if the loop has one; else it has to be found
  int64_t sums_bytes = 0, weights_bytes = 0;    // of shared memory
  int64_t read_once = 0;                        // bytes of weights, in all blocks together
  std::string product_function, cell_function;  // emit_slice's, once they are named
  double seconds = 0;                           // predicted, of the phase in one turn, without its barrier
};

// Whether as many blocks as it has slices run at once, if each has so many bytes of shared memory in front of its weights.
bool fits(const ResidentCell& cell, int64_t tiles_bytes, const ir::Target& target);

// `reason` says why the loop's steps are no such cell.
std::optional<ResidentCell> resident_cell(const ir::Module& m, const Program& program, const Loop& loop,
                                          const ir::Target& target, std::string& reason);

}  // namespace heddle::codegen
