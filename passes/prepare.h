// Prepare: what predictions make of parameters alone is made once, when these have been loaded, and not with each batch.
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
// Whoever loads weights runs the entry `prepare` behind that. So scales of a batch norm, weight norm, adapters and pruned
// weights cost a prediction nothing. The operators are those of before: a value has the bits that it had. It stays where
// it is if it has more elements than the parameters that it is made of, such as a broadcast; if it only moves or converts
// them; or if a lookup reads a part of it. Only with Options::prepare, and where no other graph renews the parameters.
//
// After simplify and fold_norms, which leave more of parameters alone; before the passes that outline.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

inline constexpr const char* kPrepare = "prepare";  // the entry

bool prepare(ir::Module& m, const Options& options);

}  // namespace heddle::passes
