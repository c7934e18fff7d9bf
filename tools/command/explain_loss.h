// Explains why the numbers of a training stopped being finite: the operators' oracles execute its first steps again.
//
//   "the loss is nan at step 1 (epoch 1)"
//     -> m.json:5:3: error: the loss is nan at step 1 (epoch 1): log 'y' makes the first -inf
//        help: log is natural logarithm; -inf at 0, nan below: ...
//
// The batches are those of the run, made by the device's own kernel. Steps that would take too long are not executed
// again.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "ir/diagnostic.h"
#include "tools/command/open_run.h"

namespace heddle::tools {

// `what` happened at step `step`, counted from 1, in the full batches of a run's first epoch. Returns nothing where
// this would take too long, or where the oracles' numbers stay finite. Resets the device's states to those at the
// beginning.
std::optional<UserError> explain_loss(const RunArguments& a, Run& run, int64_t step, const std::string& what);

}  // namespace heddle::tools
