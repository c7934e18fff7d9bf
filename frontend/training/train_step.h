// The training step: measures of the forward pass, gradients, clipping, the schedule and the optimizer's updates as IR.
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

// "accuracy", and "accuracy_2" for a second metric of that kind.
std::vector<Metric> plan_metrics(const Model& model);

// The terms where %loss is a weighted sum of several: "loss_mse", "loss_mse_2", "penalty_l2". None where it is one loss as
// it is.
std::vector<Metric> plan_losses(const Model& model);

struct Losses {
  ir::ValueId total;           // %loss; invalid where an operand is faulty, or there is no loss
  ir::Values means;            // of each loss over the batch, and the penalties
  ir::Values phases = {};      // by phase its weighted sum
  ir::ValueId penalties = {};  // their sum beside phases; invalid where there are none
  ir::ValueId norm = {};       // of the gradients of all phases; invalid where nobody asks
};
// Which terms of the loss and which measures of a step are meant: those of its rows, or those of its weights, which are
// the same for all rows.
enum class Terms { all, of_rows, of_weights };
// How much of a step one of its micro-batches is to a loss that counts `count` there.
struct Share {
  ir::ValueId part;  // of all that counts in the step
  ir::ValueId
      of_nothing;  // where nothing counts here: 0, or nan where nothing counts in the step; invalid: something does
};
using MakeShare = std::function<Share(ir::Builder& b, const std::string& loss, ir::ValueId count)>;
Losses add_losses(Instance& e, const Model& model, Diagnostics& errors, Terms terms = Terms::all,
                  const MakeShare& share = {});
// Whether the learning rate depends on how many steps a training has.
bool needs_length(const Model& model);

// The states of a loss or a metric, of f64.
struct MeasureStates {
  std::string name;  // "accuracy"
  Location where;
  std::vector<MetricState> states;
};
struct Totals {
  ir::ValueId counted;                  // how much of the batch counts in the loss
  std::vector<MeasureStates> measures;  // the losses, and each metric without a fault
};
// Adds what this batch counts of the losses and of each metric to its states.
Totals add_totals(Instance& e, const Model& model, const Losses& losses, Diagnostics& errors, Terms terms = Terms::all);
// @reset, which sets the states to 0, and @metrics, which returns the loss and each metric: f64 of
// any shape. `measures` are those of a model without faults.
ir::Graph reset_graph(const std::vector<MeasureStates>& measures);
ir::Graph metrics_graph(const Model& model, const std::vector<MeasureStates>& measures);
// Parameters whose gradients are there already, as those of a loop.
struct Gradients {
  std::vector<Parameter> parameters;
  ir::Values values;                         // of each
  std::map<std::string, SparseRows> sparse;  // of those that are renewed row by row, by their paths
};
// Gradients and updates of what the loss depends on, or of what `made` says, and of `step`.
void add_updates(Instance& e, const Model& model, ir::ValueId loss, std::optional<int64_t> total_steps,
                 Diagnostics& errors, const Gradients* made = nullptr);

// Parameters that one optimizer renews against the gradients of one loss.
struct Player {
  const Optimizer& optimizer;
  std::optional<double> clip_norm;
  std::string prefix;  // of what it keeps: "", "critic."
  std::vector<Parameter> parameters;
  ir::ValueId loss;
  std::optional<int64_t> total_steps;
  ir::ValueId step = {};                          // steps that it has finished, i64[]; invalid: the state
  ir::ValueId runs = {};                          // bool[]: whether it renews anything in this step; invalid: it does
  ir::Values gradients = {};                      // of `parameters`, where they are there already
  std::map<std::string, SparseRows> sparse = {};  // then those of sparse tables
  std::function<void(ir::Values&)> unscale = {};  // of gradients, where the loss is scaled
};
// Returns the gradients, before they are clipped; those of a training without phases make its norm a result.
ir::Values add_player(Instance& e, const Model& model, const Player& player);
// Each pattern of the optimizer's groups matches a parameter, and each group has one that no group before it takes.
void check_groups(const Instance& e, const Optimizer& optimizer, Diagnostics& errors);
// step + 1.
void count_step(Instance& e, const Location& where);
// Of all gradients together, under a name.
ir::ValueId norm_of(ir::Builder& b, const ir::Values& gradients, const std::string& name);
// Whether this is the n-th, 2n-th, ... step, counted from 1; `step` have been finished.
ir::ValueId is_nth(ir::Builder& b, ir::ValueId step, int64_t n, const std::string& name);
// `next` where a player runs, else `before`; `next` where `runs` is invalid. `name` is that of what is kept or renewed.
ir::ValueId if_runs(ir::Builder& b, ir::ValueId runs, ir::ValueId next, ir::ValueId before, std::string name);
// What a value depends on by differentiable operators, by ValueId index.
std::vector<bool> ancestors(const ir::Graph& g, ir::ValueId of);

}  // namespace heddle::frontend
