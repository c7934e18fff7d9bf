// product_schedule: chooses the tile, threads, stages and parts of a product on a GPU. Of all schedules that the target
// can execute, it takes the one with the least predicted time.
//
//   f32[128,784] x f32[784,128]   ->   schedule = "contract", tile = [32,32,32], threads = 64, stages = 3, parts = 12
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/kernel/plan_contract.h"
#include "ir/kernel/target.h"

namespace heddle::passes {

// Sets the kernel's schedule and returns its plan. If there is no schedule, changes nothing, and the plan holds the
// reason.
ir::ContractPlan choose_product_schedule(ir::Graph& kernel, const ir::Target& target);

// Up to `most` schedules with different tile shapes, the fastest by predicted time first. Each has the best depth,
// stages and parts for its shape. They are candidates for measurements.
std::vector<ir::KernelSchedule> product_schedules(const ir::Graph& kernel, const ir::Target& target, size_t most);
// "tiles 64 x 32 x 16, 128 threads, 3 stages, 4 parts"
std::string tiles_name(const ir::schedules::Product& schedule);

}  // namespace heddle::passes
