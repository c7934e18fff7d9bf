// product_schedule: the tile, threads, stages and parts of a product on a GPU: of all that can be
// executed, those that are predicted to take the least time.
//
//   f32[128,784] x f32[784,128]   ->   schedule = "contract", tile = [32,32,32], threads = 64, stages = 3, parts = 12
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/kernel/plan_contract.h"
#include "ir/kernel/target.h"

namespace heddle::passes {

// Sets the kernel's schedule and returns its plan, or leaves the schedule alone and says why there is none.
ir::ContractPlan choose_product_schedule(ir::Graph& kernel, const ir::Target& target);

// Of the shapes of tiles the fastest by predicted time, at most so many, the fastest first: each with its best depth,
// stages and parts. For who measures them.
std::vector<ir::KernelSchedule> product_schedules(const ir::Graph& kernel, const ir::Target& target, size_t most);
// "tiles 64 x 32 x 16, 128 threads, 3 stages, 4 parts"
std::string tiles_name(const ir::schedules::Product& schedule);

}  // namespace heddle::passes
