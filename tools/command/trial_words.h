// Makes the command line with which a child process of this program trains a trial: heddle train with the same options.
#pragma once
#include <string>
#include <vector>

#include "tools/command/open_run.h"

namespace heddle::tools {

// Returns this program's path, "train", and the options for the model, the data, the device and saving. The threads are
// shared among `jobs` processes. Throws UserError where the model comes from standard input.
std::vector<std::string> train_words(const RunArguments& a, int jobs);

}  // namespace heddle::tools
