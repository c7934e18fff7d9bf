// SweepPlan: the trials of a sweep with their settings, and the rungs in which they run.
//
//   SweepPlan plan = plan_sweep({.vary = {"let.width=32,64", "train.optimizer.lr=log:1e-4..1e-1"}, .trials = 9});
//   require_paths(plan, "mnist_cnn", options);    // each path can be given a value in this model
//   plan_rungs(plan, training);                   // how long, and by what they are compared
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "frontend/read/read_model.h"
#include "frontend/training/training_plan.h"
#include "runtime/train/run_state.h"
#include "tools/driver/search_space.h"

namespace heddle::driver {

struct SweepRequest {
  std::vector<std::string> vary;  // as on the command line
  std::string strategy = {};      // empty: grid, if it is finite and `trials` is 0; else random
  int64_t trials = 0;             // 0: not given
  uint64_t seed = 0;
};

struct SweepPlan {
  std::vector<Variable> variables;
  std::string strategy = {};           // "grid", "random" or "halving"
  std::vector<Setting> settings = {};  // by trial
  std::vector<Rung> rungs = {};        // one rung of 0 epochs: each trial trains as long as its model says
  runtime::BestRule rule = {};         // chooses the best epoch and the best trial
  bool validates = false;              // whether the rule uses validation rows
  bool halves() const { return strategy == "halving"; }
};

// Throws UserError (wrong usage) where nothing varies, a value is malformed, a grid is infinite, or the number of
// trials is missing.
SweepPlan plan_sweep(const SweepRequest& request);
// Throws the UserError of the first path that cannot be set in this model, because that is an error of the sweep and
// not of a trial.
void require_paths(const SweepPlan& plan, const std::string& model, const frontend::ReadOptions& options);
// Sets the rungs and the rule. Throws UserError (wrong usage) where halving is asked for and the trials do not train
// for one fixed number of epochs.
void plan_rungs(SweepPlan& plan, const frontend::TrainingPlan& training);

// How many trials have the same settings as an earlier one, which happens in draws from few values.
int64_t repeated_settings(const SweepPlan& plan);

}  // namespace heddle::driver
