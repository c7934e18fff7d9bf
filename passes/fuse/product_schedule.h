// product_schedule: the tile, threads, stages and parts of a product on a GPU: of all that can be
// executed, those that are predicted to take the least time.
//
//   f32[128,784] x f32[784,128]   ->   schedule = "contract", tile = [32,32,32], threads = 64, stages = 3, parts = 12
#pragma once
#include "ir/graph.h"
#include "ir/kernel/plan_contract.h"
#include "ir/kernel/target.h"

namespace heddle::passes {

// Sets the kernel's schedule and returns its plan, or leaves the schedule alone and says why there is none.
ir::ContractPlan choose_product_schedule(ir::Graph& kernel, const ir::Target& target);

}  // namespace heddle::passes
