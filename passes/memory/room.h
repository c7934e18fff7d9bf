// Refuses what cannot fit into the target's memory, before anything of that size is planned or asked of a library.
//
//   big.json:7:5: error: %big.weight: f32[8589934592,3] takes 103079215104 bytes, and the program may take 68719476736
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

// Before the passes: each input and state, all states together, and the results of matrix products and convolutions,
// which always lie in memory. Throws UserError with ExitCode::limit.
void require_room_for_tensors(const ir::Module& m, const Options& options);

// After assign_buffers: the states and the largest arena. Throws UserError with ExitCode::limit.
void require_room_for_plan(const ir::Module& m, const Options& options);

// The least limits under which the two above are silent: of a module before the passes, and of a planned one.
int64_t largest_tensor(const ir::Module& m);
int64_t planned_bytes(const ir::Module& m);

}  // namespace heddle::passes
