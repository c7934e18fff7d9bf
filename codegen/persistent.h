// Persistent kernels: one kernel that executes all steps of an entry, any number of times in one launch on a GPU. The
// entry must read its own batches. The kernel calls the texts of the launches one after the other, with as many blocks
// as run at the same time. Where a step needs what others have written, there is a barrier of the whole grid. It takes
// less time than the end of one launch and the start of the next.
//
//   launch k_feed(...), launch k_a(...), launch k_b(...)   ->   k_train: for each step { feed | a b | record | }
//   loop 8 {launch k_a(...), launch k_b(...)}              ->   k_turns: for each of 8 turns { a | b | }
//
// The turns of a loop can also be one kernel, while the rest of its entry stays launches.
#pragma once
#include <map>

#include "codegen/emit.h"
#include "codegen/grid_barriers.h"
#include "codegen/program.h"
#include "codegen/resident.h"
#include "ir/graph.h"
#include "ir/kernel/target.h"

namespace heddle::codegen {

struct PersistentPlan {
  GridPhases phases;
  std::map<size_t, ResidentCell> cells;  // cells of loops, by the loop's index in the list
  int64_t barriers = 0;                  // in one run of the list
  int64_t threads = 0;                   // of a block; all steps have the same number
  int64_t tiles_bytes = 0;               // shared memory of tiles, before weights that stay there
  double seconds = 0;                    // predicted, for one run
  double seconds_launched = 0;           // predicted, for one run as separate launches
  int64_t launches = 0;                  // the number of these launches
  std::string impossible;                // why there is no such kernel; the other members are then meaningless
  std::string no_cells;                  // why loops keep no weights in shared memory
  // "129 barriers, predicted 700.0 us; 1100.0 us as 256 launches; 16777216 bytes of weights are read once, by 256 blocks"
  std::string facts() const;
};
// Plans a kernel for `steps`: the steps of an entry, or one loop.
PersistentPlan plan_persistent(const ir::Module& m, const Program& program, const std::vector<Step>& steps,
                               const ir::Target& target);

// Prints the kernel. At `meeting` lies the grid's barrier counter, u32, which must be zero at load. The plan's cells
// must have both places of their values, and the names of their functions (emit_slice).
EmittedKernel emit_persistent(const Program& program, const std::vector<Step>& steps, const std::string& title,
                              const PersistentPlan& plan, const Address& meeting, const std::string& symbol);

}  // namespace heddle::codegen
