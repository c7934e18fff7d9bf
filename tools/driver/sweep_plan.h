// What a sweep trains: its trials' settings, and in which rungs.
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
  std::string strategy = {};      // empty: a grid where there is one and no number of trials, else random
  int64_t trials = 0;             // 0: not given
  uint64_t seed = 0;
};

struct SweepPlan {
  std::vector<Variable> variables;
  std::string strategy = {};           // "grid", "random" or "halving"
  std::vector<Setting> settings = {};  // by trial
  std::vector<Rung> rungs = {};        // one of no epochs where each trial trains as long as its model says
  runtime::BestRule rule = {};         // of the best epoch, and of the best trial
  bool validates = false;              // whether it goes by rows of a validation
  bool halves() const { return strategy == "halving"; }
};

// Throws UserError (wrong usage) where nothing varies, a value is none, a grid has no end, or trials are not counted.
SweepPlan plan_sweep(const SweepRequest& request);
// Throws the UserError of the first path that no value can be given to: that is a fault of the sweep, not of a trial.
void require_paths(const SweepPlan& plan, const std::string& model, const frontend::ReadOptions& options);
// Throws UserError (wrong usage) where halving cannot count the model's epochs.
void plan_rungs(SweepPlan& plan, const frontend::TrainingPlan& training);

// How many trials have the settings of an earlier one: draws from few values.
int64_t repeated_settings(const SweepPlan& plan);

}  // namespace heddle::driver
