// heddle train --check-finite: which operator made the first number that is not finite, for which row.
//
//   m.json:5:3: error: the loss is inf at step 3 (epoch 1): log 'y' makes the first -inf, of 0, in training row 17
#pragma once
#include <optional>

#include "ir/diagnostic.h"
#include "runtime/train/trainer.h"
#include "tools/command/open_run.h"

namespace heddle::tools {

// The step is done once more by the oracles, from the states that the device holds. Nothing, and a note why, where they
// stay finite or cannot do it. The device's memory may be used for other things from now on.
std::optional<UserError> check_finite(const RunArguments& a, Run& run, const runtime::FaultyStep& step);

}  // namespace heddle::tools
