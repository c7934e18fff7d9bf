// Hoist: products of rows that no turn waits for become one product beside the scan.
//
//   in each turn  %p = matmul(%x, %w), %x a slice, %w fixed      ->   before the scan, of all rows: matmul([T*N,K], %w)
//   in each turn  %d = matmul(%g, %w), read by nobody inside     ->   behind the scan, of all rows of %g
//   in each turn  %sum <- %sum + matmul(%a, %b) {transpose_a}    ->   behind the scan, one product over T*N
//
// Scans whose turns stay apart keep all of theirs. Nothing else is hoisted: what is elementwise costs less inside, where it is fused, than the memory of all its rows.
// After simplify, whose names for transposed operands it reads.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool hoist(ir::Module& m, const Options& options);

}  // namespace heddle::passes
