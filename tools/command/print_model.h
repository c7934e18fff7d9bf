// Prints a model as the reader understood it: with overrides applied and names resolved, one line per part.
#pragma once
#include <string>

#include "frontend/model.h"

namespace heddle::tools {

std::string print_model(const frontend::Model& model);

}  // namespace heddle::tools
