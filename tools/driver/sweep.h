// A sweep in its folder: the trials of all rungs as processes, a line for each that has ended, and the best of them.
//
//   TrialsFolder folder("runs/lr", {.what = "sweep", .mark = "heddle-sweep.json", ...}, resume, overwrite);
//   folder.begin(mark, folder.rows());
//   const SweepEnd end = run_sweep(plan, folder, {.trials = options, .told = print_row});
//   end.best->trial   // whose folder is folder.at(trial_name(end.best->trial))
//
// Rows that the folder has are taken as they are: the sweep goes on behind them.
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
  TrialsOptions trials;                                                  // `folder` and `ended` are the sweep's own
  std::function<void(const SweepRow& row, const Rung& rung)> told = {};  // rows of the folder first
};
struct SweepEnd {
  int signal = 0;                // that ended it before its end
  size_t rows = 0;               // trainings that have ended, in all rungs
  std::optional<SweepRow> best;  // nothing where every trial has failed
};

// Throws UserError where a row of the folder is none of this sweep's, and as run_trials does.
SweepEnd run_sweep(const SweepPlan& plan, TrialsFolder& folder, const SweepOptions& options);

// Of a trial's run: "trial-0001".
std::string trial_name(int64_t trial);

// The line of a trial that has ended: what does not depend on the moment and the machine.
std::string row_text(const SweepPlan& plan, int64_t trial, size_t rung, const TrialEnd& end);
// Nothing where the line is none of that trial's in that rung.
std::optional<SweepRow> read_row(const SweepPlan& plan, const std::string& text, int64_t trial, size_t rung);

}  // namespace heddle::driver
