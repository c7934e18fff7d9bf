// The learning rate: a number, or a schedule over finished steps, which the end of an epoch may change.
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

// The prefixes of the states of an optimizer's groups: "group_1.", "group_2.".
std::vector<std::string> group_names(const Optimizer& optimizer);

// The optimizers of a training, or of its phases, with the prefixes of their states: "critic.".
struct PlayersOptimizer {
  std::string prefix;
  const Optimizer* optimizer;
};
std::vector<PlayersOptimizer> optimizers_of(const Train& train);

// Builds the learning rate, f32[], from the setting "lr" of an optimizer or a group. `prefix` is that of the group.
// `step` is the number of finished steps, i64[].
ir::ValueId add_learning_rate(ir::Builder& b, const Settings& optimizer, const std::string& prefix, ir::ValueId step,
                              std::optional<int64_t> total_steps);

// The part of @train that computes %lr from the state `step` and the states of the schedule. With phases, it is the
// rate of the first one. nullopt if nothing is trained. Throws UserError like build_module.
std::optional<ir::Graph> learning_rate_graph(const Model& model, std::optional<int64_t> total_steps);

// The graph @after_epoch, which updates the states of schedules; nullopt if there are none. It may contain dead nodes.
std::optional<ir::Graph> after_epoch_graph(const Model& model, const std::vector<MeasureStates>& measures);

// Warns of schedules that watch a measure for which higher is better, if their "mode" does not say so.
void warn_of_modes(const Model& model, const std::vector<Metric>& metrics, std::vector<Diagnostic>& warnings);

}  // namespace heddle::frontend
