// Persistent kernels: all steps of an entry that feeds itself as one kernel, which a GPU executes
// any number of times in one launch. The texts are those of the launches, called one after the
// other by as many blocks as run at once; the whole grid meets where a step needs what others have
// written, which takes less than the end of one kernel and the start of the next.
//
//   launch k_feed(...), launch k_a(...), launch k_b(...)   ->   k_train: for each step { feed | a b | record | }
//   loop 8 {launch k_a(...), launch k_b(...)}              ->   k_turns: for each of 8 turns { a | b | }
//
// A loop's turns are one kernel, too, where the rest of its entry stays launches.
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
  std::map<size_t, ResidentCell> cells;  // of loops in the list, by their place
  int64_t barriers = 0;                  // that a run of the list meets at
  int64_t threads = 0;                   // of a block: those of every step
  int64_t tiles_bytes = 0;               // of shared memory, in front of weights that stay there
  double seconds = 0;                    // predicted, of one run
  double seconds_launched = 0;           // as launches
  int64_t launches = 0;                  // that these are
  std::string impossible;                // why there is no such kernel; the rest says nothing then
  std::string no_cells;                  // why no weights stay in shared memory, where there are loops
  // "129 barriers, predicted 700.0 us; 1100.0 us as 256 launches; 16777216 bytes of weights are read once, by 256 blocks"
  std::string facts() const;
};
// `steps` are an entry's, or one loop.
PersistentPlan plan_persistent(const ir::Module& m, const Program& program, const std::vector<Step>& steps,
                               const ir::Target& target);

// The number of barriers that a grid has met at, u32, is at `meeting`, zero at load. The plan's cells have both places of their
// values, and names of functions (emit_slice).
EmittedKernel emit_persistent(const Program& program, const std::vector<Step>& steps, const std::string& title,
                              const PersistentPlan& plan, const Address& meeting, const std::string& symbol);

}  // namespace heddle::codegen
