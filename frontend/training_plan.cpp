#include "frontend/training_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontend/expand.h"
#include "frontend/train_step.h"
#include "frontend/training_def.h"
#include "ir/op_def.h"

namespace heddle::frontend {
namespace {

// Labels of a classification are checked against the number of classes when they are loaded: `in` of cross_entropy or
// accuracy, where that is an input. A label that is computed from one makes the loss infinite.
void bound_labels(const Model& model, const Part& part, bool has_classes, const std::vector<SettingDef>& defs,
                  const Expansion& e, std::vector<PlannedInput>& inputs) {
  if (!has_classes || part.in.size() != 2) return;
  // What is ignored may be any number: nothing is known of such a column.
  if (Settings(part.settings, defs, model.let, part.op, part.op_where).integer("ignore_index") != -100) return;
  const ir::ValueId logits = e.find(part.in[0]), labels = e.find(part.in[1]);
  if (!logits.valid() || !labels.valid() || e.graph[labels].type.dtype != ir::DType::i32) return;
  if (e.graph[logits].type.rank() == 0) return;  // refused where the loss is built
  const int64_t classes = ir::logical_dims(e.graph[logits].type.dims, e.graph[logits].layout).back();
  for (PlannedInput& input : inputs)
    if (input.name == e.graph[labels].name) input.below = input.below < 0 ? classes : std::min(input.below, classes);
}

// Where the elements of v come from, in whatever order and shape v has them.
ir::ValueId origin_of(const ir::Graph& g, ir::ValueId v) {
  const auto keeps_all = [](const ir::Node& n) { return n.op->name == "reshape" || n.op->name == "transpose"; };
  while (g.def(v) != nullptr && keeps_all(*g.def(v))) v = g.def(v)->operands[0];
  return v;
}

// What elements are found by is checked when it is read: an index outside of its axis finds nothing. Of coordinates the
// longest axis counts.
void bound_indices(const Expansion& e, std::vector<PlannedInput>& inputs) {
  for (const ir::NodeId id : e.graph.order) {
    const ir::Node& n = e.graph[id];
    if (!std::holds_alternative<ir::Lookup>(n.op->kind)) continue;
    const ir::Dims extents = std::get<ir::Lookup>(n.op->kind).domain(ir::signature(e.graph, n)).extents;
    const int64_t below = *std::max_element(extents.begin(), extents.end());
    const std::string& name = e.graph[origin_of(e.graph, n.operands[1])].name;
    for (PlannedInput& input : inputs) {
      if (input.name != name) continue;
      input.below = input.below < 0 ? below : std::min(input.below, below);
      input.looked_up = true;
    }
  }
}

// Rows of integers, or of classes: cast and one_hot come first, one of them once.
void check_first_map(const DataMap& map, bool first, PlannedInput& input, Diagnostics& errors) {
  if (!first) return errors.error(map.where, fmt::format("{} comes before all other maps of an input", map.op));
  const bool floating = input.row.dtype == ir::DType::f32 || input.row.dtype == ir::DType::f64;
  if (map.op == "cast") {
    input.cast = true;
    if (map.dtype != input.row.dtype)
      errors.error(map.where, fmt::format("cast makes what the input '{}' takes, {}, not {}", input.name,
                                          ir::to_string(input.row.dtype), ir::to_string(map.dtype)));
    return;
  }
  input.one_hot = map.depth;
  if (!floating)
    errors.error(map.where,
                 fmt::format("input '{}' is {}, one_hot makes f32 or f64", input.name, ir::to_string(input.row.dtype)));
  else if (input.row.dims.empty() || input.row.dims.back() != map.depth)
    errors.error(map.where,
                 fmt::format("one_hot of depth {} makes a last axis of {}, that of input '{}' has {}", map.depth,
                             map.depth, input.name, input.row.dims.empty() ? 0 : input.row.dims.back()));
}

bool changes_pictures(const DataMap& map) { return map.op == "flip" || map.op == "crop" || map.op == "cutout"; }

// Of pictures [h,w], [h,w,c], or [c,h,w] where the model says so; a hole and a shift are no larger than they are.
void check_picture_map(const DataMap& map, const PlannedInput& input, Diagnostics& errors) {
  const ir::Dims& d = input.row.dims;
  if (input.one_hot > 0)
    return errors.error(map.where,
                        fmt::format("{} does not go with one_hot: input '{}' holds classes", map.op, input.name));
  if (d.size() != 2 && d.size() != 3)
    return errors.error(map.where, fmt::format("{} changes pictures of 2 or 3 axes, a row of input '{}' has {}", map.op,
                                               input.name, d.size()));
  const size_t first = input.channels_first ? 1 : 0;
  if (map.height > d[first] || map.width > d[first + 1])
    errors.error(map.where, fmt::format("{} of {} x {} is larger than the pictures of input '{}', {} x {}", map.op,
                                        map.height, map.width, input.name, d[first], d[first + 1]));
  const bool floating = input.row.dtype == ir::DType::f32 || input.row.dtype == ir::DType::f64;
  constexpr double kMostInteger = 127;  // which every type holds
  if (!floating && (map.fill != std::floor(map.fill) || map.fill < 0 || map.fill > kMostInteger))
    errors.error(map.where, fmt::format("{}: 'fill' of input '{}', which is {}, is a whole number from 0 to 127",
                                        map.op, input.name, ir::to_string(input.row.dtype)));
}

// Maps compute with elements in the input's type, with one number or one for each element of the last axis.
void check_maps(PlannedInput& input, const Data& data, Diagnostics& errors) {
  const auto maps = data.maps.find(input.name);
  if (maps == data.maps.end()) return;
  const int64_t last = input.row.dims.empty() ? 1 : input.row.dims.back();
  const auto fits = [&](const std::vector<double>& v) { return v.size() <= 1 || std::ssize(v) == last; };
  for (const DataMap& map : maps->second) {
    if (map.op == "cast" || map.op == "one_hot")
      check_first_map(map, &map == maps->second.data(), input, errors);
    else if (changes_pictures(map))
      check_picture_map(map, input, errors);
    else if (input.row.dtype != ir::DType::f32 && input.row.dtype != ir::DType::f64)
      errors.error(map.where, fmt::format("input '{}' is {}, a map of it expects f32 or f64", input.name,
                                          ir::to_string(input.row.dtype)));
    else if (!fits(map.scale) || !fits(map.shift))
      errors.error(map.where, fmt::format("expected one number, or one for each of the {} elements of the last axis of "
                                          "input '{}'",
                                          last, input.name));
  }
}

void warn_of_endless_training(const Model& model, std::vector<Diagnostic>& warnings) {
  if (model.train.losses.empty() || model.train.epochs || model.train.steps) return;
  warnings.push_back({Severity::warning,
                      model.train.where,
                      "neither 'epochs' nor 'steps' is given: the training goes on until it is interrupted",
                      {},
                      "for example \"epochs\": 10"});
}

// The softmax of a softmax trains, slowly and toward other probabilities.
void warn_of_softmax(const Part& part, const Expansion& e, std::vector<Diagnostic>& warnings) {
  if (part.op != "cross_entropy" || part.in.empty()) return;
  const ir::ValueId logits = e.find(part.in[0]);
  const ir::Node* made_by = logits.valid() ? e.graph.def(logits) : nullptr;
  if (made_by == nullptr || made_by->op->name != "softmax") return;
  warnings.push_back({Severity::warning,
                      part.in[0].where,
                      fmt::format("cross_entropy takes logits, and '{}' has been through a softmax", part.in[0].name),
                      {e.origin(logits)},
                      "give it what the softmax reads"});
}

// What ends a training early is one of the numbers that an epoch has.
void plan_early_stop(const Model& model, TrainingPlan& plan) {
  plan.checkpoint = model.train.checkpoint;
  plan.early_stop = model.train.early_stop;
  if (!plan.early_stop) return;
  EarlyStop& stop = *plan.early_stop;
  const auto metric = std::ranges::find(plan.metrics, stop.on, &Metric::name);
  if (metric == plan.metrics.end()) {
    std::vector<std::string> names;
    for (const Metric& m : plan.metrics) names.push_back(m.name);
    throw UserError(stop.where, fmt::format("train: early_stop: no loss or metric is called {}", quote(stop.on)),
                    suggest(stop.on, names));
  }
  if (stop.mode.empty()) stop.mode = metric->higher_is_better ? "max" : "min";
}

}  // namespace

TrainingPlan plan_training(const Model& model) {
  TrainingPlan plan;
  plan.name = model.name;
  const auto batch = model.train.sizes.find(model.batch_dimension);
  plan.batch = batch == model.train.sizes.end() ? 1 : batch->second;
  plan.epochs = model.train.epochs;
  plan.steps = model.train.steps;
  plan.seed = model.train.seed;
  plan.drop_last = model.train.drop_last;
  plan.data = model.data;

  Diagnostics errors;
  const Expansion e = expand_model(model, {.batch = plan.batch, .training = false}, errors);
  errors.throw_if_any();
  for (const InputDef& input : model.inputs) {
    ir::Type row = input_type(model, input, plan.batch);
    row.dims.erase(row.dims.begin());
    plan.inputs.push_back({input.name, row});
    plan.inputs.back().channels_first = model.layout == Layout::nchw && row.dims.size() == 3;
    check_maps(plan.inputs.back(), plan.data, errors);
  }
  errors.throw_if_any();
  bound_indices(e, plan.inputs);
  warn_of_endless_training(model, plan.warnings);
  if (!model.train.losses.empty()) plan.metrics.push_back({"loss"});
  for (const Part& part : model.train.losses) {
    const LossDef& def = *find_loss(part.op);
    warn_of_softmax(part, e, plan.warnings);
    bound_labels(model, part, def.classes, def.settings, e, plan.inputs);
  }
  for (const Metric& loss : plan_losses(model)) plan.metrics.push_back(loss);
  for (const Metric& metric : plan_metrics(model)) plan.metrics.push_back(metric);
  for (const Part& part : model.train.metrics) {
    const MetricDef& def = *find_metric(part.op);
    bound_labels(model, part, def.classes, def.settings, e, plan.inputs);
  }
  plan_early_stop(model, plan);
  return plan;
}

}  // namespace heddle::frontend
