// measured_schedules: gives products on a GPU the tiles, or the loops, that measurements chose.
//
//   @matmul.add  {schedule = "contract", tile = [32,32,32], ...}   ->   {schedule = "contract", tile = [64,32,16], ...}
//
// Behind fuse, whose groups do not depend on it. Candidates are what is executed now, the fastest tiles by predicted
// time, and loops.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool follow_measured_schedules(ir::Module& m, const Options& options);

}  // namespace heddle::passes
