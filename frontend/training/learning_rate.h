// The learning rate: a number, or a schedule over finished steps; and what the end of an epoch does to it.
//
//   "lr": {"op": "plateau", "value": 0.1, "patience": 2}
//     -> @train:       %lr: f32[] = ... of %lr.rate: f64[], a state
//        @after_epoch: update %lr.rate <- %lr.rate.next, which looks at what @metrics would return
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "frontend/model.h"
#include "frontend/training/train_step.h"
#include "frontend/training/training_plan.h"

namespace heddle::frontend {

// Prefixes of what the groups of an optimizer keep: "group_1.", "group_2.".
std::vector<std::string> group_names(const Optimizer& optimizer);

// The optimizers of a training: its own, or those of its phases, with the prefix of what they keep: "critic.".
struct PlayersOptimizer {
  std::string prefix;
  const Optimizer* optimizer;
};
std::vector<PlayersOptimizer> optimizers_of(const Train& train);

// f32[], by the setting "lr" of an optimizer or a group. `prefix` is the group's, `step` the number of finished steps,
// i64[].
ir::ValueId add_learning_rate(ir::Builder& b, const Settings& optimizer, const std::string& prefix, ir::ValueId step,
                              std::optional<int64_t> total_steps);

// @train as far as it computes %lr, of phases that of the first, of the state `step` and what the schedule keeps; none where
// nothing is trained. Throws UserError as build_module does.
std::optional<ir::Graph> learning_rate_graph(const Model& model, std::optional<int64_t> total_steps);

// The updates of what schedules keep; nothing where they keep nothing. What it computes beside is dead.
std::optional<ir::Graph> after_epoch_graph(const Model& model, const std::vector<MeasureStates>& measures);

// Of schedules that look at a measure of which more is better, and are not told so.
void warn_of_modes(const Model& model, const std::vector<Metric>& metrics, std::vector<Diagnostic>& warnings);

}  // namespace heddle::frontend
