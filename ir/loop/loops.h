// Loops: what a kernel does, as nests of loops and the statements in them: which elements are added up, stored and
// staged, at which index, in which order, and where threads wait for one another. Codegen prints its text from them,
// `ir/kernel/count` counts what they execute: both see one kernel. A schedule is a function that makes them.
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
// How an element is made of others is not said here: it is computed where a statement asks for it (reads_at).
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "ir/kernel/plan_tile.h"

namespace heddle::ir::loop {

struct Statement;
using Statements = std::vector<Statement>;

// Who shares the turns of a nest, and its extents.
enum class Axis {
  points,        // rows, columns: all threads
  span,          // columns: all threads, along the one row
  rows,          // rows: the teams
  columns,       // columns: the threads of a team, in one pass over its row
  tiles,         // rows, columns, matrices: the blocks, each a tile
  down,          // the points of a tile: neighbouring threads are in neighbouring rows,
  along,         // or in neighbouring columns
  products,      // rows, columns, matrices, depth: the blocks, each a tile of the result or a part of its sum
  steps,         // one after the other, along the depth
  sums,          // the sums of a product's tile: the threads
  one_of_team,   // one thread of each team
  one_of_block,  // one thread of the block
  one_of_all,    // one thread
  last_block,    // blocks that arrive, of which so many meet, at so many meetings: the last block of each
  last_part,     // parts of a sum that meet: the last block of each tile
  last_columns,  // columns: the threads of the last block
};

// Sums in runs (long_sums.h): behind so many turns of the nest these end one. 0 turns: none is long.
struct EndOfRuns {
  int64_t turns = 0;
  std::vector<NodeId> sums;
};

struct Nest {
  Axis axis = Axis::points;
  Dims extents = {};
  int64_t first = 0;    // of points: the first column, where there are several parts
  int pass = 0;         // of columns: which pass over the row
  EndOfRuns runs = {};  // of span, rows and columns
  Statements body;
};

// An accumulator is declared; a row's registers for an element that plan.kept names.
struct Clear {
  NodeId reduction;
};
struct Keep {
  size_t kept = 0;
};
// Made by each warp before everything else, its lanes side by side (singles.h).
struct Single {
  ValueId value;
  IndexMap at;
};
// Adds the reduction's element at this point, or of this row, to its accumulator.
struct Accumulate {
  NodeId reduction;
  ReductionPlan plan = ReductionPlan::row;
  ReductionAccess element;
};
// The results of the team's accumulators.
struct Combine {
  NodeId reduction;
};
// Of plan.partials: the block leaves its accumulators; the columns of all that meet are added up;
// the results are known, of a total or of this column.
struct Put {
  size_t partials = 0;
};
struct AddBlocks {
  size_t partials = 0;
};
struct Take {
  size_t partials = 0;
};
struct Store {
  ValueId value;
  Extent extent = Extent::full;
  IndexMap at;
};
// The element goes into its tile; memory is asked for the rows of a result, to be there in time; all tiles are turned
// behind a barrier; the element is taken from its tile.
struct Stage {
  Staged staged;
};
struct Ahead {
  ValueId value;
  IndexMap at;
};
struct TurnTiles {};
struct Unstage {
  Staged staged;
};
// A side of a product comes to shared memory, copied or computed; what is there is multiplied.
struct Fill {
  bool left = true;
};
struct Multiply {};
// The one operator, by its function of the preamble.
struct CallPrimitive {
  NodeId node;
};

struct Statement {
  std::variant<Nest, Clear, Keep, Single, Accumulate, Combine, Put, AddBlocks, Take, Store, Stage, Ahead, TurnTiles,
               Unstage, Fill, Multiply, CallPrimitive>
      what;
};

// What a kernel of generated text does.
Statements loops_of(const Graph& kernel, const KernelPlan& plan);

// One line for each statement.
std::string print(const Graph& kernel, const KernelPlan& plan, const Statements& statements);
// Of every kernel of generated text.
std::string print_loops(const Module& m);

}  // namespace heddle::ir::loop
