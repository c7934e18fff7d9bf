// heddle train MODEL --folds 5 --run DIR: cross-validation. Each fold is a process with its own run folder.
#pragma once
#include "tools/command/open_run.h"

namespace heddle::tools {

// Prints the mean and the spread of each metric, and writes them to DIR/folds.json. Returns the exit code.
int train_folds(const RunArguments& a);

}  // namespace heddle::tools
