// Simplify: removes dead nodes, merges equal values, folds constants, and applies algebraic identities that hold
// exactly.
//
//   %z: f32[8] = constant() {shape = [8]}
//   %a: f32[8] = add(%x, %z)                    ->    %b: f32[8] = neg(%x)
//   %b: f32[8] = neg(%a)                              return %b, %b
//   %c: f32[8] = neg(%x)
//   return %b, %c
//
// "Exactly" means the same bits for every operand, up to the sign of zero and the payload of NaN. So x * 0 stays, since
// x may be NaN or infinite, and sums are not reassociated. There are exceptions: computations with constants alone, and
// sums of one value many times, are rounded once instead of at each step; and pow(x, 2) becomes x * x. Each rule states
// its Agreement, and a test proves it (passes/simplify/rules.h). The pass runs to a fixpoint: a second run changes
// nothing. A returned value keeps its name. The pass runs after decompose.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool simplify(ir::Module& m, const Options& options);

// Merges nodes with equal operators, attributes and operands. Returns whether it changed anything.
bool merge_common_nodes(ir::Graph& g);

}  // namespace heddle::passes
