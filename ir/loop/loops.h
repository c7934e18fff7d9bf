// Loops: the loop nests and statements of a kernel. They say which elements are added up, stored and staged, at which
// index, in which order, and where threads synchronize. Each schedule makes the loops of its kernels. Codegen prints
// text from them, and `ir/kernel/count` counts what they execute, so both describe the same kernel.
//
//   %m: f32[64] = reduce_max(%x: f32[64,128]);       rows of 64 {
//   %y = sub(%x, broadcast(%m)), schedule rows             clear %m
//                                                 ->   columns of 128 in pass 0 {
//                                                        %m <- %x at (row, column)
//                                                      }
//                                                      combine %m
//                                                      columns of 128 in pass 1 {
//                                                        store %y at (row, column)
//                                                      }
//                                                    }
//
// Elementwise computation is implicit: a statement that needs an element computes it from its operands (reads_at).
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "ir/kernel/plan_tile.h"

namespace heddle::ir::loop {

struct Statement;
using Statements = std::vector<Statement>;

// What a nest iterates over (its extents), and which threads share the iterations.
enum class Axis {
  points,        // extents rows, columns; shared by all threads
  span,          // extent columns, of a single row; shared by all threads
  rows,          // extent rows; shared by the teams
  columns,       // extent columns; shared by the threads of a team, in one pass over the team's row
  tiles,         // extents rows, columns, matrices; each block takes a tile
  down,          // the points of a tile; neighbouring threads are in neighbouring rows
  along,         // the points of a tile; neighbouring threads are in neighbouring columns
  products,      // extents rows, columns, matrices, depth; each block takes a tile of the result, or a part of its sum
  steps,         // steps along the depth, executed in order by the block
  sums,          // the sums of a product's tile; shared by the threads of the block
  one_of_team,   // no loop: one thread of each team
  one_of_block,  // no loop: one thread of each block
  one_of_all,    // no loop: one thread of the launch
  last_block,    // extents: arriving blocks, blocks per meeting, meetings; each meeting's last block executes it
  last_part,     // extents: the parts of a sum that meet; each tile's last block executes it
  last_columns,  // extent columns; shared by the threads of the last block
};

// Long sums are added up in runs (long_sums.h): every `turns` iterations of the nest end a run of these sums. 0: no
// long sum.
struct EndOfRuns {
  int64_t turns = 0;
  std::vector<NodeId> sums;
};

struct Nest {
  Axis axis = Axis::points;
  Dims extents = {};
  int64_t first = 0;    // for `points`: the first column of its part (column_parts.h)
  int pass = 0;         // for `columns`: the number of the pass over the row
  EndOfRuns runs = {};  // for `span`, `rows` and `columns`
  Statements body;
};

// Declares an accumulator, with the neutral element.
struct Clear {
  NodeId reduction;
};
// Declares the registers of a row for the element plan.kept[kept].
struct Keep {
  size_t kept = 0;
};
// A long reduction with one result: each warp computes it before everything else, its lanes in parallel (singles.h).
struct Single {
  ValueId value;
  IndexMap at;
};
// Adds the reduction's element at this point, or of this row, to the accumulator.
struct Accumulate {
  NodeId reduction;
  ReductionPlan plan = ReductionPlan::row;
  ReductionAccess element;
};
// Combines the accumulators of a team, and computes the results.
struct Combine {
  NodeId reduction;
};
// The next three refer to plan.partials[partials]. Put: the block writes its accumulators to scratch memory.
struct Put {
  size_t partials = 0;
};
// Adds up the accumulators of all blocks of a meeting.
struct AddBlocks {
  size_t partials = 0;
};
// Computes the results from the sums of all blocks: of a total, or of this column.
struct Take {
  size_t partials = 0;
};
struct Store {
  ValueId value;
  Extent extent = Extent::full;
  IndexMap at;
};
// Writes an element into its tile.
struct Stage {
  Staged staged;
};
// Prefetches the rows of a result, so that they are in the cache when they are stored.
struct Ahead {
  ValueId value;
  IndexMap at;
};
// Transposes all tiles, with a barrier.
struct TurnTiles {};
// Reads an element from its tile.
struct Unstage {
  Staged staged;
};
// Brings a tile of one side of a product to shared memory, copied or computed.
struct Fill {
  bool left = true;
};
// Multiplies the two tiles in shared memory.
struct Multiply {};
// Calls the preamble's function for the kernel's operator.
struct CallPrimitive {
  NodeId node;
};

struct Statement {
  std::variant<Nest, Clear, Keep, Single, Accumulate, Combine, Put, AddBlocks, Take, Store, Stage, Ahead, TurnTiles,
               Unstage, Fill, Multiply, CallPrimitive>
      what;
};

// The loops of a kernel whose text is generated.
Statements loops_of(const Graph& kernel, const KernelPlan& plan);

// Prints one line for each statement.
std::string print(const Graph& kernel, const KernelPlan& plan, const Statements& statements);
// Prints the loops of every kernel whose text is generated.
std::string print_loops(const Module& m);

}  // namespace heddle::ir::loop
