// The options that say how a training is saved and when it ends early: --run and related ones.
#pragma once
#include <string>

#include "frontend/training/training_plan.h"
#include "runtime/train/trainer.h"

namespace heddle::tools {

class Command;

struct SavingArguments {
  std::string run;  // the folder; empty: nothing is saved
  bool resume = false, overwrite = false;
  bool other_choices = false;  // choices may differ from those of the checkpoint
  std::string every, max_time, step_timeout;
  double max_memory = 0;  // GiB
};
void add_saving_arguments(Command& command, SavingArguments& a);
// Throws UserError (wrong usage) where options contradict each other.
void check_saving_arguments(const SavingArguments& a, const std::string& log);

// Reads how often a checkpoint is saved: "200 steps", "2epochs", "10 minutes", "30s". Empty: as the model says, else
// every 5 minutes.
runtime::SaveRule save_rule(const std::string& every, const frontend::CheckpointRule& model);
// Reads a duration in seconds from "90", "90s", "1.5m" or "2h". `option` is for messages.
double duration(const std::string& text, const std::string& option);

}  // namespace heddle::tools
