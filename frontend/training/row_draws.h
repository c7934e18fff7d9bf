// Random numbers of some rows of a batch as the whole batch draws them.
//
//   body @b(fixed %seed, fixed %step, index %turn, ...) {       body @b(...) {
//     %u: f32[16,8] = random_uniform(%seed, %step)                %first = mul(%rows.before, 8)
//                                                          ->     %u: f32[16,8] = random_uniform_from(%seed, %step, %first)
#pragma once
#include <vector>

#include "frontend/instantiate/instantiate.h"

namespace heddle::frontend {

// What a body of some rows is held against: the same of all rows.
struct WholeBatch {
  const Instance& whole;
  const Instance& part;  // as it was instantiated, with the bodies of its scans
};

// Whether the body, or one that it scans, draws random numbers.
bool draws(const ir::Graph& body);

// Draws by the place of rows: `rows_before`, i64[], of the body is how many rows of the batch stand before its own. Bodies that
// it scans become others, which are added to `bodies`. Throws UserError where what is
// drawn is not as many for each row.
void draw_by_row(ir::Graph& body, ir::ValueId rows_before, const WholeBatch& batch, std::vector<ir::Graph>& bodies);

}  // namespace heddle::frontend
