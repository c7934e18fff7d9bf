// heddle train MODEL --folds 5 --run DIR: cross-validation, a process and a run's folder for each fold.
#pragma once
#include "tools/command/open_run.h"

namespace heddle::tools {

// Prints the mean and the spread of each metric, and leaves them in DIR/folds.json. Returns the exit code.
int train_folds(const RunArguments& a);

}  // namespace heddle::tools
