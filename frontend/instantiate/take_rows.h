// take_rows: like take_body, for a turn that handles a few rows of a step.
//
//   %u = random_uniform(%seed, %step)   ->   body @loss(fixed %seed, fixed %step, ...): the step's own random numbers
#pragma once
#include "frontend/instantiate/take_body.h"

namespace heddle::frontend {

// Moves all nodes out of the graph. Random numbers depend on the step alone, not on the turn.
TakenBody take_rows(ir::Graph& g, const Turn& turn, int64_t count, const std::string& name);

}  // namespace heddle::frontend
