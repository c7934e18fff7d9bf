// Hoist: moves matrix products out of a scan if no turn waits for their result. The products of all turns become one.
//
//   in each turn  %p = matmul(%x, %w), %x a slice, %w fixed      ->   before the scan, of all rows: matmul([T*N,K], %w)
//   in each turn  %d = matmul(%g, %w), read by nobody inside     ->   behind the scan, of all rows of %g
//   in each turn  %sum <- %sum + matmul(%a, %b) {transpose_a}    ->   behind the scan, one product over T*N
//
// A scan with the attribute `apart` (micro-batches) keeps its products. Elementwise operators are not hoisted: inside,
// where they are fused, they cost less than storing the rows of all turns. The pass runs after simplify, which moves
// transposes into the attributes of products.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool hoist(ir::Module& m, const Options& options);

}  // namespace heddle::passes
