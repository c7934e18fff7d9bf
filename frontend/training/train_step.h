// Builds the training step as IR: losses and metrics, gradients, clipping, the learning rate and the optimizer's
// updates.
//
//   %fc1.weight.grad: f32[128,784] = gradient(%loss, %fc1.weight)
//   %fc1.weight.next: f32[128,784] = sub(%fc1.weight, %fc1.weight.change)
//   update %fc1.weight <- %fc1.weight.next
#pragma once
#include <functional>
#include <map>
#include <optional>

#include "frontend/instantiate/instantiate.h"
#include "frontend/training/sparse_update.h"
#include "frontend/training/training_def.h"
#include "frontend/training/training_plan.h"

namespace heddle::frontend {

// The metrics of a model: "accuracy", and "accuracy_2" for a second one of that kind.
std::vector<Metric> plan_metrics(const Model& model);

// The terms of %loss: "loss_mse", "loss_mse_2", "penalty_l2". Empty if %loss is a single loss, unweighted.
std::vector<Metric> plan_losses(const Model& model);

struct Losses {
  ir::ValueId total;           // %loss; invalid if an operand is faulty, or if there is no loss
  ir::Values means;            // the mean of each loss over the batch, and the penalties
  ir::Values phases = {};      // the weighted sum of losses of each phase
  ir::ValueId penalties = {};  // with phases: the sum of the penalties; invalid if there are none
  ir::ValueId norm = {};       // the norm of the gradients of all phases; invalid if it is not needed
};
// A choice of terms and measures: those that depend on the rows, or those that depend on the weights alone and are the
// same for all rows.
enum class Terms { all, of_rows, of_weights };
// The share of a micro-batch in its step, for a loss that counts `count` in the micro-batch.
struct Share {
  ir::ValueId part;        // `count` divided by the count of the whole step
  ir::ValueId of_nothing;  // the term if `count` is 0: 0, or nan if the step's count is 0, too; invalid: never 0
};
using MakeShare = std::function<Share(ir::Builder& b, const std::string& loss, ir::ValueId count)>;
Losses add_losses(Instance& e, const Model& model, Diagnostics& errors, Terms terms = Terms::all,
                  const MakeShare& share = {});
// Whether the learning rate depends on the number of steps of the training.
bool needs_length(const Model& model);

// The states of a loss or a metric, f64.
struct MeasureStates {
  std::string name;  // "accuracy"
  Location where;
  std::vector<MetricState> states;
};
struct Totals {
  ir::ValueId counted;                  // how much of the batch counts in the loss
  std::vector<MeasureStates> measures;  // the losses, and each metric without a fault
};
// Adds the updates by which a batch changes the states of the losses and metrics.
Totals add_totals(Instance& e, const Model& model, const Losses& losses, Diagnostics& errors, Terms terms = Terms::all);
// The graphs @reset, which sets the states to 0, and @metrics, which returns the loss and each metric: f64 of any
// shape. The model must have no faults.
ir::Graph reset_graph(const std::vector<MeasureStates>& measures);
ir::Graph metrics_graph(const Model& model, const std::vector<MeasureStates>& measures);
// Parameters with gradients that already exist, such as those of a loop over micro-batches.
struct Gradients {
  std::vector<Parameter> parameters;
  ir::Values values;                         // one gradient per parameter
  std::map<std::string, SparseRows> sparse;  // for parameters with sparse updates, by path
};
// Adds gradients and updates of the parameters that the loss depends on, or of those in `made`, and the update of
// `step`.
void add_updates(Instance& e, const Model& model, ir::ValueId loss, std::optional<int64_t> total_steps,
                 Diagnostics& errors, const Gradients* made = nullptr);

// Parameters that one optimizer updates with the gradients of one loss.
struct Player {
  const Optimizer& optimizer;
  std::optional<double> clip_norm;
  std::string prefix;  // of its states: "", "critic."
  std::vector<Parameter> parameters;
  ir::ValueId loss;
  std::optional<int64_t> total_steps;
  ir::ValueId step = {};                          // its finished steps, i64[]; invalid: the state `step`
  ir::ValueId runs = {};                          // bool[]: whether it runs in this step; invalid: always
  ir::Values gradients = {};                      // of `parameters`, if they already exist
  std::map<std::string, SparseRows> sparse = {};  // likewise, for parameters with sparse updates
  std::function<void(ir::Values&)> unscale = {};  // unscales gradients, if the loss is scaled
};
// Adds the updates of a player. Returns the gradients before clipping. Without phases, the norm of the gradients
// becomes a result, if the training asks for it.
ir::Values add_player(Instance& e, const Model& model, const Player& player);
// Checks that each pattern of the optimizer's groups matches a parameter, and that each group has a parameter that no
// earlier group takes.
void check_groups(const Instance& e, const Optimizer& optimizer, Diagnostics& errors);
// Adds the update of `step` to step + 1.
void count_step(Instance& e, const Location& where);
// The norm of all gradients together, named `name`.
ir::ValueId norm_of(ir::Builder& b, const ir::Values& gradients, const std::string& name);
// bool[]: whether this step, counted from 1, is a multiple of n. `step` is the number of finished steps.
ir::ValueId is_nth(ir::Builder& b, ir::ValueId step, int64_t n, const std::string& name);
// select(runs, next, before); `next` if `runs` is invalid. `name` is that of the value which is kept or updated.
ir::ValueId if_runs(ir::Builder& b, ir::ValueId runs, ir::ValueId next, ir::ValueId before, std::string name);
// By ValueId index: whether `of` depends on the value through differentiable operators.
std::vector<bool> ancestors(const ir::Graph& g, ir::ValueId of);

}  // namespace heddle::frontend
