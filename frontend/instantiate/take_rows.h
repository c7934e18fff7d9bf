// take_rows: as take_body, of a turn that is a few rows of the step's.
//
//   %u = random_uniform(%seed, %step)   ->   body @loss(fixed %seed, fixed %step, ...): the step's own random numbers
#pragma once
#include "frontend/instantiate/take_body.h"

namespace heddle::frontend {

// Takes all nodes out of the graph. Random numbers depend on the step in all turns alike.
TakenBody take_rows(ir::Graph& g, const Turn& turn, int64_t count, const std::string& name);

}  // namespace heddle::frontend
