// Simplify: removes what nobody reads, merges equal values, folds constants, applies algebra that
// holds exactly.
//
//   %z: f32[8] = constant() {shape = [8]}
//   %a: f32[8] = add(%x, %z)                    ->    %b: f32[8] = neg(%x)
//   %b: f32[8] = neg(%a)                              return %b, %b
//   %c: f32[8] = neg(%x)
//   return %b, %c
//
// Exactly means: the same bits for every operand, up to the sign of zero and the payload of NaN. So
// x * 0 stays, since x may be NaN or infinite, and sums are not reassociated. What is computed with
// constants alone, or by adding one value many times, is rounded once instead of at each step, and
// pow(x, 2) is x * x. Each rule says which of these holds for it, and a test proves it
// (passes/simplify/rules.h). Runs to a fixpoint; a second run finds nothing. A returned value keeps
// its name. After decompose.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool simplify(ir::Module& m, const Options& options);

// Merges nodes that compute the same from the same operands.
bool merge_common_nodes(ir::Graph& g);

}  // namespace heddle::passes
