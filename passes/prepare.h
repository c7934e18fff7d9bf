// Prepare: moves computations of predictions that depend on parameters alone into an entry that runs once after
// loading.
//
//   graph @predict(input %x: f32[64,784], param %v: f32[128,784], param %g: f32[128,784]) {
//     %w: f32[128,784] = mul(%v, %g)
//     %y: f32[64,128] = matmul(%x, %w) {transpose_b = true}
//     return %y
//   }
//   ->
//   graph @predict(input %x: f32[64,784], state %w.prepared: f32[128,784]) {
//     %y: f32[64,128] = matmul(%x, %w.prepared) {transpose_b = true}
//     return %y
//   }
//   graph @prepare(param %v: f32[128,784], param %g: f32[128,784], state %w.prepared: f32[128,784]) {
//     %w: f32[128,784] = mul(%v, %g)
//     update %w.prepared <- %w
//   }
//
// The code that loads weights runs the entry `prepare` afterwards. So the scales of batch norm, weight norm, adapters
// and pruned weights add no time to a prediction. The operators stay the same, so each value keeps its bits. A value is
// not moved if it has more elements than the parameters it is computed from (a broadcast, for example), if it only
// moves or converts them, or if a lookup reads a part of it. The pass runs only with Options::prepare, and only for
// parameters that no other graph updates.
//
// The pass runs after simplify and fold_norms, after which more values depend on parameters alone. It runs before the
// passes that outline.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

inline constexpr const char* kPrepare = "prepare";  // the entry

bool prepare(ir::Module& m, const Options& options);

}  // namespace heddle::passes
