// Refuses a program that cannot fit into the target's memory, before passes or libraries work on values of that size.
//
//   big.json:7:5: error: %big.weight: f32[8589934592,3] takes 103079215104 bytes,
//                        and a program for host may take 68719476736
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

// To be called before the passes. Checks each input, all states together, and the results of contractions (matrix
// products, convolutions) and scans, which always lie in memory. Throws UserError with ExitCode::limit.
void require_room_for_tensors(const ir::Module& m, const Options& options);

// To be called after assign_buffers. Checks the states together with each arena. Throws UserError with ExitCode::limit.
void require_room_for_plan(const ir::Module& m, const Options& options);

// The least limits that the two functions above accept: for a module before the passes, and for a planned one.
int64_t largest_tensor(const ir::Module& m);
int64_t planned_bytes(const ir::Module& m);

}  // namespace heddle::passes
