// Several trainings, each a process of its own in a run's folder of its own: so many at a time, told of in their order.
//
//   run_trials({{"fold-1", {"--fold", "1"}}, {"fold-2", {"--fold", "2"}}}, options);
//     -> heddle train m.json --fold 1 --run runs/cv/fold-1 --resume ..., and 2
//
// What a trial ends with does not depend on how many run at once, nor on whether it was killed and went on from a
// checkpoint: one that fails in a folder which held a run before is run again from its start, so that its message is that
// of an undisturbed one.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace heddle::driver {

struct Trial {
  std::string name;                // of its folder
  std::vector<std::string> words;  // of its command line, beside those that all have
};
struct TrialEnd {
  std::string result;  // the JSON object of --json; empty where it failed
  std::string error;   // the first line of its error; empty where it did not
};
struct TrialsOptions {
  std::vector<std::string> command;  // the program, and the words that all trials have
  std::string folder;                // of their folders
  int jobs = 1;
  bool overwrite = false;            // what lies in their folders is not gone on with
  std::function<int()> interrupted;  // 0, or a signal that ends them
  // Called before a trial starts, and before what it has ended with counts: throws where trials are no more of one kind.
  std::function<void()> unchanged = {};
  std::function<void(size_t trial, const TrialEnd& end)> ended = {};  // in the order of the trials
};

// Returns 0 once all have ended, or the signal that was told, or that ended a trial: then trials under way save their
// checkpoints and are not told of. Throws UserError where the disk is full, or a process cannot be started.
int run_trials(const std::vector<Trial>& trials, const TrialsOptions& options);

}  // namespace heddle::driver
