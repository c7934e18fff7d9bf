// Row draws: makes a body that handles some rows of a batch draw the same random numbers as a graph of the whole batch.
//
//   body @b(fixed %seed, fixed %step, index %turn, ...) {       body @b(...) {
//     %u: f32[16,8] = random_uniform(%seed, %step)                %first = mul(%rows.before, 8)
//                                                          ->     %u: f32[16,8] = random_uniform_from(%seed, %step, %first)
#pragma once
#include <vector>

#include "frontend/instantiate/instantiate.h"

namespace heddle::frontend {

// The instances to compare: `whole` for all rows of the batch, and `part` for some rows.
struct WholeBatch {
  const Instance& whole;
  const Instance& part;  // as it was instantiated, with the bodies of its scans
};

// Whether the body, or a body that it scans, draws random numbers.
bool draws(const ir::Graph& body);

// Offsets the draws of the body. `rows_before`, i64[], is a value of the body: the number of rows of the batch before
// its own rows. Bodies that it scans are replaced by changed copies, which are added to `bodies`. Throws UserError if a
// draw does not have the same number of elements for each row.
void draw_by_row(ir::Graph& body, ir::ValueId rows_before, const WholeBatch& batch, std::vector<ir::Graph>& bodies);

}  // namespace heddle::frontend
