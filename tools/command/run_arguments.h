// How a training is kept, and when it ends early: --run and the options beside it.
#pragma once
#include <string>

#include "frontend/training/training_plan.h"
#include "runtime/train/trainer.h"

namespace heddle::tools {

class Command;

struct SavingArguments {
  std::string run;  // the folder; empty: nothing is kept
  bool resume = false, overwrite = false;
  bool other_choices = false;  // than those of the checkpoint
  std::string every, max_time, step_timeout;
  double max_memory = 0;  // GiB
};
void add_saving_arguments(Command& command, SavingArguments& a);
// Throws UserError (wrong usage) where options do not go together.
void check_saving_arguments(const SavingArguments& a, const std::string& log);

// "200 steps", "2epochs", "10 minutes", "30s": a checkpoint so often. Empty: what the model says, else every 5 minutes.
runtime::SaveRule save_rule(const std::string& every, const frontend::CheckpointRule& model);
// Seconds of "90", "90s", "1.5m", "2h"; `option` is for messages.
double duration(const std::string& text, const std::string& option);

}  // namespace heddle::tools
