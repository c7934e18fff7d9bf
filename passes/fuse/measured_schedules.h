// measured_schedules: gives products on a GPU the schedule (tiles or loops) that was measured to be fastest.
//
//   @matmul.add  {schedule = "contract", tile = [32,32,32], ...}   ->   {schedule = "contract", tile = [64,32,16], ...}
//
// It runs after fuse, whose groups do not depend on it. The candidates are the current schedule, the fastest tiles by
// predicted time, and loops. Throws UserError if a measured choice is no candidate.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool follow_measured_schedules(ir::Module& m, const Options& options);

}  // namespace heddle::passes
