// Schedules for fuse: the iteration space of a kernel, and how it is cut into rows and columns.
//
//   %s: f32[8,26,26,32] = add(%x, %y)
//   %g: f32[32] = reduce_sum(%s) {axes = [0,1,2]}
//     ->  {schedule = "rows", domain = [5408,32], split = 1, blocks = 64, ...}
//
// Neighbouring dimensions that no operator tells apart are merged. Everything here is a function of the kernel and
// of the target's figures.
#pragma once
#include <string>

#include "ir/graph.h"
#include "ir/kernel/cost.h"
#include "ir/kernel/target.h"

namespace heddle::passes {

// Whether operands and results are more than 1 MB: what moves as much gets a block for every multiprocessor.
bool moves_much(const ir::Graph& kernel);

struct FormChoice {
  std::string reason;  // why no schedule executes the kernel, or "", and
  ir::Cost cost;       // what ir::estimated_cost says of the form
};
// Writes kernel.schedule so that ir::plan_kernel accepts it.
FormChoice choose_schedule(ir::Graph& kernel, const ir::Target& target);
// By rows and columns alone; products are loops inside a point. "" or why no such schedule executes the kernel.
std::string choose_loops(ir::Graph& kernel, const ir::Target& target);

}  // namespace heddle::passes
