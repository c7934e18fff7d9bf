// heddle train --check-finite: finds the operator that made the first nan or infinity of a step, and the row of the
// data.
//
//   m.json:5:3: error: the loss is inf at step 3 (epoch 1): log 'y' makes the first -inf, of 0, in training row 17
#pragma once
#include <optional>

#include "ir/diagnostic.h"
#include "runtime/train/trainer.h"
#include "tools/command/open_run.h"

namespace heddle::tools {

// The oracles execute the step again, from the states that the device holds. Returns nothing, and prints a note why,
// where their numbers stay finite or they cannot execute it. Overwrites the device's memory.
std::optional<UserError> check_finite(const RunArguments& a, Run& run, const runtime::FaultyStep& step);

}  // namespace heddle::tools
