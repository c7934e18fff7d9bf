// The words of a command line that make another process of this program do the same: heddle train for a trial.
#pragma once
#include <string>
#include <vector>

#include "tools/command/open_run.h"

namespace heddle::tools {

// This program, "train", and what the arguments say of the model, the data, the device and how a run is kept; of the
// threads each of `jobs` processes has its share. Throws UserError where the model comes from standard input.
std::vector<std::string> train_words(const RunArguments& a, int jobs);

}  // namespace heddle::tools
