// The definitions of losses, metrics, optimizers and schedules. They are registered like layers, one file each, in
// frontend/losses, frontend/metrics, frontend/optimizers and frontend/schedules.
#pragma once
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "frontend/keys/settings.h"
#include "frontend/training/training_plan.h"
#include "ir/builder.h"

namespace heddle::frontend {

struct LoopSpec;  // frontend/layer_context.h

// The context in which a loss or metric builds its nodes. `fail` throws UserError at the part's op.
struct MeasureContext {
  ir::Builder& b;
  const Settings& settings;
  ir::Values in;
  ir::ValueId weights;  // of the rows, f32[rows]; invalid: all are equal
  int64_t rows = 0;     // of this batch
  std::string name;     // prefix of value names: "loss", "accuracy"
  std::function<void(const std::string& message, const std::string& help)> fail;
  std::function<std::string(const ir::Dims&)> shape_text;  // [N,10]
  // Makes a loop of a turn whose nodes are in the graph, like GraphServices::loop.
  std::function<ir::Values(const LoopSpec&)> loop = {};
  // Logits that are a product and have more bytes are computed a few classes at a time (product_logits.h).
  int64_t most_logit_bytes = std::numeric_limits<int64_t>::max();

  ir::ValueId emit(std::string_view op, const ir::Values& operands, ir::Attrs attrs = {}, std::string_view suffix = {});
  ir::ValueId count(double n);                                                     // f32[]
  bool has(size_t input) const { return input < in.size() && in[input].valid(); }  // whether an input is given
};

struct LossDef {
  std::string name;
  std::string doc;
  std::vector<std::string> inputs;
  std::vector<std::string> optional = {};             // further inputs; the last ones may be left out
  std::vector<Key> settings = {};                     // besides weight, which all losses have
  bool weighs_rows = true;                            // takes 'weights'
  bool classes = false;                               // the second input holds class numbers of the first
  bool chunks = false;                                // can compute a few classes at a time (product_logits.h)
  std::function<ir::ValueId(MeasureContext&)> mean;   // the mean over the valid elements of the batch, f32[]
  std::function<ir::ValueId(MeasureContext&)> count;  // of valid elements, or the sum of their weights, f32[]
};

// A state of a metric: f64, zero after @reset.
struct MetricState {
  std::string name;  // "total"
  ir::Dims dims = {};
};

// A metric: its states, their update by a batch, and its result. Most metrics are ratios of two totals
// (`ratio_metric`).
struct MetricDef {
  std::string name;
  std::string doc;
  std::vector<std::string> inputs;
  std::vector<std::string> optional = {};  // further inputs; the last ones may be left out
  bool higher_is_better = false;
  std::vector<Key> settings = {};
  bool classes = false;  // the second input holds class numbers of the first
  bool chunks = false;   // can compute a few classes at a time (product_logits.h)
  std::function<std::vector<MetricState>(MeasureContext&)> states = {};  // also checks the inputs
  std::function<ir::Values(MeasureContext&, const ir::Values& old)> next = {};
  std::function<ir::ValueId(MeasureContext&)> finish = {};  // `in` are the states; f64 of any shape
};

// The context of one parameter's update. `decay` is its weight decay, 0 if it has none.
struct UpdateContext {
  ir::Builder& b;
  const Settings& settings;
  ir::ValueId parameter, gradient;
  ir::Values slots;      // the optimizer's states for this parameter, initially zero
  ir::ValueId lr, step;  // f32[]; step: i64[], the number of finished steps
  double decay = 0;
  bool sparse = false;  // parameter, gradient and slots are only the rows that the batch looks up
  std::string path;
  std::function<ir::ValueId(const std::string& name, const std::function<ir::ValueId()>& make)>
      shared;  // a number that is built once per step
  // A state of the whole optimizer, f64[], initially 0. `next` builds its next value, which is returned.
  std::function<ir::ValueId(const std::string& name, const std::function<ir::ValueId(ir::ValueId old)>& next)> kept;

  ir::ValueId emit(std::string_view op, const ir::Values& operands, std::string_view suffix);
  ir::ValueId scaled(ir::ValueId v, double factor, std::string_view suffix);  // v * factor
  ir::ValueId spread(ir::ValueId scalar, std::string_view suffix);            // to the parameter's shape
};
struct UpdateResult {
  ir::ValueId parameter;
  ir::Values slots;
};

struct OptimizerDef {
  std::string name;
  std::string doc;
  std::vector<Key> settings = {};  // besides lr, weight_decay and decay, which all optimizers have
  double default_lr = 1e-3;
  double default_decay = 0;
  std::function<void(const Settings&)> check = {};
  bool sparse = false;                                             // the rule can be applied to some rows alone
  std::function<void(const Settings&)> check_sparse = {};          // refuses settings that sparse updates do not allow
  std::function<std::vector<std::string>(const Settings&)> slots;  // names of the states: {"m", "v"}
  std::function<UpdateResult(UpdateContext&)> update;
};

struct ScheduleContext {
  ir::Builder& b;
  const Settings& settings;
  ir::ValueId step;      // f32[]: finished optimizer steps
  double total = 0;      // optimizer steps of the whole training; only set with ScheduleDef::needs_total
  ir::Values states;     // f64[] each, in the order of ScheduleDef::states
  ir::ValueId measured;  // after an epoch: the loss or metric that the setting "on" names, f64[]
};

struct ScheduleDef {
  std::string name;
  std::string doc;
  std::vector<Key> settings = {};
  bool needs_total = false;                            // the rate depends on the length of the training
  std::function<ir::ValueId(ScheduleContext&)> build;  // the learning rate, f32[]
  // The states that a schedule keeps from epoch to epoch, initially 0, and their next values at the end of an epoch.
  std::vector<std::string> states = {};
  std::function<ir::Values(ScheduleContext&)> after_epoch = {};
};

struct RegisterLoss {
  explicit RegisterLoss(LossDef def);
};
struct RegisterMetric {
  explicit RegisterMetric(MetricDef def);
};
struct RegisterOptimizer {
  explicit RegisterOptimizer(OptimizerDef def);
};
struct RegisterSchedule {
  explicit RegisterSchedule(ScheduleDef def);
};

const LossDef* find_loss(std::string_view name);
const MetricDef* find_metric(std::string_view name);
const OptimizerDef* find_optimizer(std::string_view name);
const ScheduleDef* find_schedule(std::string_view name);
std::vector<std::string> loss_names();
std::vector<std::string> metric_names();
std::vector<std::string> optimizer_names();
std::vector<std::string> schedule_names();

}  // namespace heddle::frontend
