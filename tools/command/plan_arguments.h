// --libraries and --choices, of commands that have no other argument of how a model is trained; add_model_arguments adds
// them with the others.
#pragma once
#include "tools/command/model_arguments.h"

namespace heddle::tools {

void add_plan_arguments(Command& command, ModelArguments& a);

}  // namespace heddle::tools
