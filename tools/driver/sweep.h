// Runs a sweep in its folder: the trials of all rungs run as processes, each finished one gets a line, and the best is
// returned.
//
//   TrialsFolder folder("runs/lr", {.what = "sweep", .mark = "heddle-sweep.json", ...}, resume, overwrite);
//   folder.begin(mark, folder.rows());
//   const SweepEnd end = run_sweep(plan, folder, {.trials = options, .told = print_row});
//   end.best->trial   // whose folder is folder.at(trial_name(end.best->trial))
//
// Rows that are already in the folder count as finished, and the sweep continues after them.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "tools/driver/sweep_plan.h"
#include "tools/driver/sweep_progress.h"
#include "tools/driver/trials.h"
#include "tools/driver/trials_folder.h"

namespace heddle::driver {

struct SweepOptions {
  TrialsOptions trials;                                                  // the sweep sets `folder` and `ended`
  std::function<void(const SweepRow& row, const Rung& rung)> told = {};  // called for the folder's rows first
};
struct SweepEnd {
  int signal = 0;                // the signal that interrupted the sweep, or 0
  size_t rows = 0;               // finished trainings, in all rungs
  std::optional<SweepRow> best;  // nothing where every trial failed
};

// Throws UserError where a row of the folder does not belong to this sweep, and as run_trials does.
SweepEnd run_sweep(const SweepPlan& plan, TrialsFolder& folder, const SweepOptions& options);

// The folder name of a trial's run: "trial-0001".
std::string trial_name(int64_t trial);

// The line of a finished trial. It has nothing that depends on the time or the machine.
std::string row_text(const SweepPlan& plan, int64_t trial, size_t rung, const TrialEnd& end);
// Reads such a line. Returns nothing where it does not belong to this trial in this rung.
std::optional<SweepRow> read_row(const SweepPlan& plan, const std::string& text, int64_t trial, size_t rung);

}  // namespace heddle::driver
