// Persistent kernels: all steps of an entry that feeds itself as one kernel, which a GPU executes
// any number of times in one launch. The texts are those of the launches, called one after the
// other by as many blocks as run at once; the whole grid meets where a step needs what others have
// written, which takes less than the end of one kernel and the start of the next.
//
//   launch k_feed(...), launch k_a(...), launch k_b(...)   ->   k_train: for each step { feed | a b | record | }
//   loop 8 {launch k_a(...), launch k_b(...)}              ->   ... for each of 8 turns { a | b | } ...
#pragma once
#include "codegen/emit.h"
#include "codegen/grid_barriers.h"
#include "codegen/program.h"
#include "ir/kernel/target.h"

namespace heddle::codegen {

struct PersistentPlan {
  GridPhases phases;
  int64_t barriers = 0;         // that a step of training meets at
  int64_t threads = 0;          // of a block: those of every step; 0: they differ, so there is no such kernel
  double seconds = 0;           // predicted, of one step of training
  double seconds_launched = 0;  // as launches
  std::string reason;           // why it stays launches; empty where it does not
};
PersistentPlan plan_persistent(const Program& program, const Entry& entry, const ir::Target& target);

// The number of barriers that a grid has met at, u32, is at `meeting`, zero at load.
EmittedKernel emit_persistent(const Program& program, const Entry& entry, const PersistentPlan& plan,
                              const Address& meeting, const std::string& symbol);

}  // namespace heddle::codegen
