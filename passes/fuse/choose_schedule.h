// Choice of a kernel's schedule: its iteration space, and how this is divided into rows and columns.
//
//   %s: f32[8,26,26,32] = add(%x, %y)
//   %g: f32[32] = reduce_sum(%s) {axes = [0,1,2]}
//     ->  {schedule = "rows", domain = [5408,32], split = 1, blocks = 64, ...}
//
// Neighbouring dimensions that no operator distinguishes are merged. The schedule depends only on the kernel and the
// figures of the target.
#pragma once
#include <string>

#include "ir/graph.h"
#include "ir/kernel/cost.h"
#include "ir/kernel/target.h"

namespace heddle::passes {

// Whether operands and results have more than 1 MiB in total. Such a kernel should have a block for every
// multiprocessor.
bool moves_much(const ir::Graph& kernel);

struct FormChoice {
  std::string reason;  // why no schedule executes the kernel, or ""
  ir::Cost cost;       // ir::estimated_cost of the chosen schedule
};
// Sets kernel.schedule to the fastest schedule by predicted time: tiles for a product on a GPU, or loops.
FormChoice choose_schedule(ir::Graph& kernel, const ir::Target& target);
// Sets kernel.schedule to loops over rows and columns; a product is then a loop inside of each point. Returns "", or
// why no such schedule executes the kernel.
std::string choose_loops(ir::Graph& kernel, const ir::Target& target);

}  // namespace heddle::passes
