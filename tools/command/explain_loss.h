// Why the numbers of a training stopped being finite: its first steps once more, by the operators' oracles.
//
//   "the loss is nan at step 1 (epoch 1)"
//     -> m.json:5:3: error: the loss is nan at step 1 (epoch 1): log 'y' makes the first -inf
//        help: log is natural logarithm; -inf at 0, nan below: ...
//
// The batches are those of the run, made by the device's own kernel. Steps that would take long are not done again.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "ir/diagnostic.h"
#include "tools/command/open_run.h"

namespace heddle::tools {

// `what` happened at that step, counted from 1, of full batches of a run's first epoch. Nothing
// where it would take too long, or where the oracles' numbers stay finite. The device's states
// become those of the beginning.
std::optional<UserError> explain_loss(const RunArguments& a, Run& run, int64_t step, const std::string& what);

}  // namespace heddle::tools
