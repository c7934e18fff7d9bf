// Losses, metrics, optimizers and schedules: registered like layers, one file each in a folder of their kind:
// frontend/losses, metrics, optimizers, schedules.
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

// What a loss or metric works with. `fail` throws at the part's op.
struct MeasureContext {
  ir::Builder& b;
  const Settings& settings;
  ir::Values in;
  ir::ValueId weights;  // f32[rows]; invalid where all rows weigh the same
  int64_t rows = 0;     // of this batch
  std::string name;     // prefix of value names: "loss", "accuracy"
  std::function<void(const std::string& message, const std::string& help)> fail;
  std::function<std::string(const ir::Dims&)> shape_text;  // [N,10]
  // Makes a loop of the turn that has been built into the graph: as GraphServices::loop.
  std::function<ir::Values(const LoopSpec&)> loop = {};
  // Of logits that are a product: with more bytes a few classes are computed at a time (product_logits.h).
  int64_t most_logit_bytes = std::numeric_limits<int64_t>::max();

  ir::ValueId emit(std::string_view op, const ir::Values& operands, ir::Attrs attrs = {}, std::string_view suffix = {});
  ir::ValueId count(double n);                                                     // f32[]
  bool has(size_t input) const { return input < in.size() && in[input].valid(); }  // one that may be left out
};

struct LossDef {
  std::string name;
  std::string doc;
  std::vector<std::string> inputs;
  std::vector<std::string> optional = {};             // further inputs, which may be left out from the last one on
  std::vector<Key> settings = {};                     // besides weight, which all have
  bool weighs_rows = true;                            // takes 'weights'
  bool classes = false;                               // the second input holds class numbers of the first
  bool chunks = false;                                // can do with a few classes of it at a time (product_logits.h)
  std::function<ir::ValueId(MeasureContext&)> mean;   // over the valid elements of the batch, f32[]
  std::function<ir::ValueId(MeasureContext&)> count;  // of valid elements or of their weights, f32[]
};

// A state of a metric: f64, zero after @reset.
struct MetricState {
  std::string name;  // "total"
  ir::Dims dims = {};
};

// What a batch makes of the states, and what they come to. Most are ratios of two totals (`ratio_metric`).
struct MetricDef {
  std::string name;
  std::string doc;
  std::vector<std::string> inputs;
  std::vector<std::string> optional = {};  // further inputs, which may be left out from the last one on
  bool higher_is_better = false;
  std::vector<Key> settings = {};
  bool classes = false;  // the second input holds class numbers of the first
  bool chunks = false;   // can do with a few classes of it at a time (product_logits.h)
  std::function<std::vector<MetricState>(MeasureContext&)> states = {};  // checks the inputs, too
  std::function<ir::Values(MeasureContext&, const ir::Values& old)> next = {};
  std::function<ir::ValueId(MeasureContext&)> finish = {};  // `in` are the states; f64 of any shape
};

// One parameter's update. `decay` is the weight decay that applies to it, 0 where none does.
struct UpdateContext {
  ir::Builder& b;
  const Settings& settings;
  ir::ValueId parameter, gradient;
  ir::Values slots;      // the optimizer's states for this parameter, zero at first
  ir::ValueId lr, step;  // f32[]; step: i64[], the number of finished steps
  double decay = 0;
  bool sparse = false;  // parameter, gradient and slots are those rows alone that the batch looks up
  std::string path;
  std::function<ir::ValueId(const std::string& name, const std::function<ir::ValueId()>& make)>
      shared;  // made once per step
  // A number that the whole optimizer keeps, f64[] and 0 at first: `next` makes its next value, which is the result.
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
  std::vector<Key> settings = {};  // besides lr, weight_decay and decay, which all have
  double default_lr = 1e-3;
  double default_decay = 0;
  std::function<void(const Settings&)> check = {};
  bool sparse = false;                                     // the rule may be applied to some rows alone
  std::function<void(const Settings&)> check_sparse = {};  // of settings that the rule of some rows does not take
  std::function<std::vector<std::string>(const Settings&)> slots;  // {"m", "v"}
  std::function<UpdateResult(UpdateContext&)> update;
};

struct ScheduleContext {
  ir::Builder& b;
  const Settings& settings;
  ir::ValueId step;      // f32[]: finished optimizer steps
  double total = 0;      // optimizer steps of the whole training; only where the definition asks for it
  ir::Values states;     // f64[], by the definition's names
  ir::ValueId measured;  // after an epoch: what the setting "on" names, f64[]
};

struct ScheduleDef {
  std::string name;
  std::string doc;
  std::vector<Key> settings = {};
  bool needs_total = false;                            // the rate depends on the length of the training
  std::function<ir::ValueId(ScheduleContext&)> build;  // the learning rate, f32[]
  // What a schedule keeps from epoch to epoch, 0 at first, and what the end of an epoch makes of it.
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
