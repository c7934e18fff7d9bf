// run_trials: runs several trainings, each as a process with its own run folder. A given number runs at a time; their
// ends are reported in the order of the trials.
//
//   run_trials({{"fold-1", {"--fold", "1"}}, {"fold-2", {"--fold", "2"}}}, options);
//     -> heddle train m.json --fold 1 --run runs/cv/fold-1 --resume ..., and 2
//
// A trial's result does not depend on how many run at once, or on whether it was killed and resumed from a checkpoint.
// A trial that fails after it was resumed is run again from its start, so its error message is that of an undisturbed
// run.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace heddle::driver {

struct Trial {
  std::string name;                // of its folder
  std::vector<std::string> words;  // its command line arguments, besides the common ones
};
struct TrialEnd {
  std::string result;  // the JSON object of --json; empty where it failed
  std::string error;   // the first line of its error; empty where it succeeded
};
struct TrialsOptions {
  std::vector<std::string> command;  // the program, and the common arguments
  std::string folder;                // holds the trials' folders
  int jobs = 1;
  bool overwrite = false;            // runs in the trials' folders are replaced, not resumed
  std::function<int()> interrupted;  // returns 0, or a signal that ends the trials
  // Called before a trial starts and before its result counts. It throws where the trials no longer match each other.
  std::function<void()> unchanged = {};
  std::function<void(size_t trial, const TrialEnd& end)> ended = {};  // called in the order of the trials
};

// Returns 0 when all have ended. After a signal, from `interrupted` or to a trial, returns the signal; running trials
// then save their checkpoints and are not reported. Throws UserError where the disk is full, or a process cannot be
// started.
int run_trials(const std::vector<Trial>& trials, const TrialsOptions& options);

}  // namespace heddle::driver
