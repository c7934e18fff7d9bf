#include "frontend/training/training_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include "frontend/instantiate/instantiate.h"
#include "frontend/instantiate/mixed.h"
#include "frontend/instantiate/model_outputs.h"
#include "frontend/keys/fields.h"
#include "frontend/lora.h"
#include "frontend/metrics/generated.h"
#include "frontend/training/check_drawing.h"
#include "frontend/training/check_weights_table.h"
#include "frontend/training/learning_rate.h"
#include "frontend/training/paired_inputs.h"
#include "frontend/training/parameter_patterns.h"
#include "frontend/training/plan_buckets.h"
#include "frontend/training/plan_memory.h"
#include "frontend/training/prune.h"
#include "frontend/training/train_step.h"
#include "frontend/training/training_def.h"
#include "ir/op_def.h"
#include "ir/ops/precision.h"

namespace heddle::frontend {
namespace {

// `below` of a column of nonnegative whole numbers that are no classes.
constexpr int64_t kNoClasses = std::numeric_limits<int32_t>::max();

Diagnostic note(const Location& where, const std::string& message) { return {Severity::note, where, message, {}, {}}; }

void bound(PlannedInput& input, int64_t below, const Location& where, const std::string& by, const char* what) {
  if (input.below >= 0 && input.below <= below) return;
  input.below = below;
  if (input.one_hot == 0) input.bounded_by = {note(where, fmt::format("{} has {} {} here", by, below, what))};
}

ir::Dims dims_of(const ir::Graph& g, ir::ValueId v) { return ir::logical_dims(g[v].type.dims, g[v].layout); }

// Labels of a classification (inputs of cross_entropy or accuracy, for example) are checked against the number of
// classes when they are loaded. An invalid label that is computed from an input makes the loss infinite. If scores are
// compared with a threshold, or each logit has a label, there are two classes.
void bound_labels(const Model& model, const Part& part, bool has_classes, const std::vector<Key>& defs,
                  const Instance& e, std::vector<PlannedInput>& inputs) {
  if (!has_classes || part.in.size() != 2) return;
  // With another ignore_index, labels may have that value, too, so nothing is checked.
  const Settings settings(part.settings, defs, model.let, part.op, part.op_where);
  if (settings.integer("ignore_index") != -100) return;
  const ir::ValueId logits = e.find(part.in[0]), labels = e.find(part.in[1]);
  if (!logits.valid() || !labels.valid() || e.graph[labels].type.dtype != ir::DType::i32) return;
  if (e.graph[logits].type.rank() == 0) return;  // refused where the loss is built
  const bool is_label = (std::ranges::count(defs, "threshold", &Key::name) > 0 && settings.has("threshold")) ||
                        dims_of(e.graph, logits) == dims_of(e.graph, labels);
  const int64_t classes = is_label ? 2 : dims_of(e.graph, logits).back();
  for (PlannedInput& input : inputs)
    if (input.name == e.graph[labels].name) bound(input, classes, part.op_where, part.op, "classes");
}

// Relevances must not be negative. Whole numbers are checked when they are read. A negative relevance that is computed,
// or is no whole number, makes the metric nan.
void bound_relevances(const Model& model, const Part& part, const MetricDef& def, const Instance& e,
                      TrainingPlan& plan) {
  if (def.inputs.size() != 2 || def.inputs[1] != "relevance" || part.in.size() != 2) return;
  const Settings settings(part.settings, def.settings, model.let, part.op, part.op_where);
  const ir::ValueId relevances = e.find(part.in[1]);
  if (settings.integer("ignore_index") != -100 || !relevances.valid()) return;
  for (PlannedInput& input : plan.inputs) {
    const bool whole = input.row.dtype == ir::DType::i32 && !plan.data.maps.contains(input.name);
    if (input.name != e.graph[relevances].name || !whole || input.below >= 0) continue;
    input.below = kNoClasses;
    input.bounded_by = {note(part.op_where, fmt::format("{} takes no relevance below 0", part.op))};
  }
}

// Indices that are inputs are checked against the size of the axis when they are read.
void bound_indices(const Instance& e, std::vector<PlannedInput>& inputs) {
  for (const ir::NodeId id : e.graph.order) {
    const ir::Node& n = e.graph[id];
    const int64_t places = most_places(e.graph, n);
    if (places == 0) continue;
    const std::string& name = e.graph[origin_of(e.graph, n.operands[1])].name;
    for (PlannedInput& input : inputs) {
      if (input.name != name) continue;
      bound(input, places, n.loc, reader_of(e, id), "places");
      input.looked_up = true;
    }
  }
}

// The checks of computed indices, which are not known before a batch runs. A comparison with twice the batch shows
// which sizes depend on the rows.
std::vector<CheckedIndices> plan_index_checks(ModelInstances& instances, const Instance& e, Diagnostics& errors) {
  const std::vector<IndexCheck> checks = index_checks(e, errors);
  if (checks.empty()) return {};
  const Instance* twice = instance_of_twice(instances, e.batch);
  const bool alike = twice != nullptr && twice->graph.value_count() == e.graph.value_count();
  return describe(checks, e, alike ? twice : nullptr);
}

bool is_one_hot(const ir::DataMap& map) { return map.def->name == "one_hot"; }

// The fault of map i of the list, whose result is `row`; empty if there is none.
std::string fault_of_map(const std::vector<ir::DataMap>& list, size_t i, const ir::MapRow& row) {
  if (list[i].def->picture && is_one_hot(list[0])) return "does not go with one_hot, which makes classes";
  return ir::map_fault(list, i, row);
}

// From the last map, whose result is the input's row, to the first.
void check_maps(PlannedInput& input, const Data& data, Diagnostics& errors) {
  input.stored = input.row.dims;
  const auto maps = data.maps.find(input.name);
  if (maps == data.maps.end()) return;
  const std::vector<ir::DataMap>& list = maps->second;
  if (list.size() > ir::kMostMaps)
    return errors.error(list[ir::kMostMaps].where,
                        fmt::format("more than {} maps of input '{}'", ir::kMostMaps, input.name));
  ir::MapRow row{.dtype = input.row.dtype, .dims = input.row.dims, .channels_first = input.channels_first};
  for (size_t i = list.size(); i-- > 0; row = ir::row_before(list[i], row)) {
    const std::string fault = fault_of_map(list, i, row);
    if (!fault.empty())
      return errors.error(list[i].where, fmt::format("{} of input '{}': {}", list[i].def->name, input.name, fault));
  }
  input.stored = row.dims;
  input.cast = !list.empty() && list[0].def->name == "cast";
  if (list.empty() || !is_one_hot(list[0])) return;
  input.one_hot = list[0].integer("depth");
  input.bounded_by = {note(list[0].where, fmt::format("one_hot has {} classes here", input.one_hot))};
}

const ir::DataMap* mixing_map(const Data& data, const std::string& input) {
  const auto maps = data.maps.find(input);
  if (maps == data.maps.end()) return nullptr;
  const auto it = std::ranges::find_if(maps->second, [](const ir::DataMap& m) { return m.def->mixes; });
  return it == maps->second.end() ? nullptr : &*it;
}

// Inputs that are mixed must be mixed in the same way, such as an image and its label. An input that is not mixed
// probably does not belong to the others.
void check_mixing(const std::vector<PlannedInput>& inputs, const Data& data, Diagnostics& errors,
                  std::vector<Diagnostic>& warnings) {
  const ir::DataMap* first = nullptr;
  for (const PlannedInput& input : inputs) {
    const ir::DataMap* map = mixing_map(data, input.name);
    if (map == nullptr) continue;
    if (first == nullptr) first = map;
    if (map->def != first->def || map->numbers != first->numbers)
      errors.error(map->where,
                   fmt::format("{} of input '{}' differs from the {} before: one number mixes all inputs of a row",
                               map->def->name, input.name, first->def->name));
  }
  for (const PlannedInput& input : inputs)
    if (first != nullptr && mixing_map(data, input.name) == nullptr)
      warnings.push_back({Severity::warning,
                          first->where,
                          fmt::format("{} mixes rows, but not their '{}'", first->def->name, input.name),
                          {},
                          fmt::format("give '{}' the same map, behind one_hot where it holds classes", input.name)});
}

void warn_of_endless_training(const Model& model, std::vector<Diagnostic>& warnings) {
  if (model.train.losses.empty() || model.train.epochs || model.train.steps) return;
  warnings.push_back({Severity::warning,
                      model.train.where,
                      "neither 'epochs' nor 'steps' is given: the training goes on until it is interrupted",
                      {},
                      "for example \"epochs\": 10"});
}

void warn_of_late_pruning(const Model& model, std::vector<Diagnostic>& warnings) {
  const std::optional<Prune>& prune = model.train.prune;
  if (!prune || !model.train.steps || prune->end <= *model.train.steps) return;
  warnings.push_back(
      {Severity::warning,
       prune->where,
       fmt::format("train: prune: 'end' is step {}, behind the last step, {}", prune->end, *model.train.steps),
       {},
       "the amount is reached at the end: give a smaller \"end\", or train longer"});
}

// Warns if the training ends before quantization starts.
void warn_of_late_quantization(const Model& model, std::vector<Diagnostic>& warnings) {
  const auto& quantize = model.train.quantize;
  if (!quantize || !model.train.steps || quantize->start < *model.train.steps) return;
  warnings.push_back(
      {Severity::warning,
       quantize->where,
       fmt::format("train: quantize: 'start' is {}, and the training has {} steps: all of them compute in f32",
                   quantize->start, *model.train.steps),
       {},
       "write a smaller 'start', or train longer"});
}

// Warns of losses and gradients that combine several rows: with micro-batches they combine only the rows of one.
void warn_of_micro_batches(const Model& model, const Instance& e, std::vector<Diagnostic>& warnings) {
  if (model.train.accumulate == 1) return;
  const auto warn = [&](const Location& where, const std::string& what) {
    warnings.push_back({Severity::warning,
                        where,
                        fmt::format("{} is one of each micro-batch, whose results are averaged", what),
                        {},
                        "\"accumulate\": 1 gives that of the whole batch; a mean over rows is the same either way"});
  };
  for (const Part& part : model.train.losses)
    if (part.op == "value") warn(part.op_where, "the loss 'value'");
  for (const InstanceNode& node : e.nodes)
    if (node.op == "gradient") return warn(model.train.where, fmt::format("the gradient '{}'", node.path));
}

// Warns of losses whose input has the wrong form. A model with the softmax of a softmax, or the sigmoid of a sigmoid,
// trains slowly and toward other probabilities. A probability in the place of its logarithm gives a negative loss.
void warn_of_probabilities(const Part& part, const Instance& e, std::vector<Diagnostic>& warnings) {
  struct Mistake {
    const char *loss, *takes, *made_by, *help;
  };
  constexpr Mistake kMistakes[] = {
      {"cross_entropy", "logits", "softmax", "give it what the softmax reads"},
      {"binary_cross_entropy", "logits", "sigmoid", "give it what the sigmoid reads"},
      {"nll", "logarithms of probabilities", "softmax", "write log_softmax in the place of the softmax"},
      {"kl_divergence", "logarithms of probabilities", "softmax", "write log_softmax in the place of the softmax"}};
  if (part.in.empty()) return;
  const ir::ValueId first = e.find(part.in[0]);
  const ir::Node* made_by = first.valid() ? e.graph.def(first) : nullptr;
  for (const Mistake& m : kMistakes)
    if (made_by != nullptr && part.op == m.loss && made_by->op->name == m.made_by)
      warnings.push_back(
          {Severity::warning,
           part.in[0].where,
           fmt::format("{} takes {}, and '{}' has been through a {}", m.loss, m.takes, part.in[0].name, m.made_by),
           {e.origin(first)},
           m.help});
}

// Warns of a threshold that does not fit the scores: probabilities, from sigmoid or softmax, are compared with a number
// outside of (0, 1); or logits, which binary_cross_entropy reads, are compared with 0.5.
void warn_of_threshold(const Model& model, const Part& part, const Instance& e, std::vector<Diagnostic>& warnings) {
  const std::vector<Key>& defs = find_metric(part.op)->settings;
  if (std::ranges::count(defs, "threshold", &Key::name) == 0 || part.in.empty()) return;
  const Settings settings(part.settings, defs, model.let, part.op, part.op_where);
  const ir::ValueId scores = e.find(part.in[0]);
  if (!settings.has("threshold") || !scores.valid()) return;
  const double threshold = settings.real("threshold");
  const auto warn = [&](const std::string& message, const std::string& help) {
    warnings.push_back({Severity::warning, settings.where("threshold"), message, {e.origin(scores)}, help});
  };
  const ir::Node* made_by = e.graph.def(scores);
  const bool probabilities = made_by != nullptr && (made_by->op->name == "sigmoid" || made_by->op->name == "softmax");
  if (probabilities && (threshold <= 0 || threshold >= 1))
    warn(fmt::format("'{}' holds probabilities: {} of them are above {}", part.in[0].name,
                     threshold <= 0 ? "all" : "none", threshold),
         "write \"threshold\": 0.5");
  const bool logits = std::ranges::any_of(model.train.losses, [&](const Part& loss) {
    return loss.op == "binary_cross_entropy" && !loss.in.empty() && loss.in[0].name == part.in[0].name;
  });
  if (logits && threshold == 0.5)
    warn(fmt::format("'{}' holds logits, as binary_cross_entropy takes them: 0.5 is the probability 0.62",
                     part.in[0].name),
         "the probability 0.5 is \"threshold\": 0");
}

// The names by which an epoch may be judged: losses and metrics, including metrics of generated texts.
std::vector<Metric> judged_metrics(const Model& model, const TrainingPlan& plan) {
  std::vector<Metric> metrics = plan.metrics;
  for (const GeneratedMetric& metric : generated_metrics(model))
    metrics.push_back({metric.name, find_metric(metric.part->op)->higher_is_better});
  return metrics;
}

bool has_validation(const Data& data) {
  return data.validation || data.validation_fraction > 0 || (data.draw && data.draw->folds > 0);
}

void plan_early_stop(const Model& model, TrainingPlan& plan) {
  plan.checkpoint = model.train.checkpoint;
  plan.early_stop = model.train.early_stop;
  if (!plan.early_stop) return;
  EarlyStop& stop = *plan.early_stop;
  const std::vector<Metric> metrics = judged_metrics(model, plan);
  const auto metric = std::ranges::find(metrics, stop.on, &Metric::name);
  if (metric == metrics.end()) {
    std::vector<std::string> names;
    std::ranges::transform(metrics, std::back_inserter(names), &Metric::name);
    throw UserError(stop.where, fmt::format("train: early_stop: no loss or metric is called {}", quote(stop.on)),
                    suggest(stop.on, names));
  }
  const bool of_steps = std::ranges::find(plan.metrics, stop.on, &Metric::name) != plan.metrics.end();
  if (!of_steps && !has_validation(model.data))
    throw UserError(stop.where,
                    fmt::format("train: early_stop: {} is of validation rows, and there are none", quote(stop.on)),
                    "for example \"validation\": {\"fraction\": 0.1} in data");
  if (stop.mode.empty()) stop.mode = metric->higher_is_better ? "max" : "min";
}

// Row n of a batch must continue row n of the batch before, so the reader must cut the text in that way.
void require_strands(const TrainingPlan& plan, const KeptState& state) {
  if (!plan.data.train) return;
  if (runtime::data::find_setting(plan.data.train->settings, "strands") != nullptr) return;
  throw UserError(plan.data.train->where,
                  "a stateful layer goes on where a row stopped, and these training rows are shuffled",
                  fmt::format("the reader \"tokens\" with \"strands\": {} cuts a text for it", plan.batch),
                  {note(state.where, "the layer stands here")});
}

// 16-bit types start at products, so a model without one has no 16-bit values.
void warn_of_mixed(const Model& model, const Instance& e, std::vector<Diagnostic>& warnings) {
  if (!is_mixed(model)) return;
  const auto makes_one = [](const ir::Graph& g) {
    return std::ranges::any_of(g.order, [&](ir::NodeId id) {
      return ir::mixed_type(ir::value_or(g[id].attrs, "precision", std::string())).has_value();
    });
  };
  if (makes_one(e.graph) || std::ranges::any_of(e.bodies, makes_one)) return;
  warnings.push_back({Severity::warning,
                      model.train.where,
                      "train: precision: the model has no product that may be of 16-bit values: all of it stays f32",
                      {},
                      "leave out \"mixed\": products of f32, such as those of dense and conv2d, begin what it makes "
                      "16-bit"});
}

std::vector<PaddingRow> padding_rows(const Instance& e) {
  std::vector<PaddingRow> rows;
  for (const Parameter& p : e.parameters) {
    if (p.zero_row < 0) continue;
    const bool shared = std::ranges::any_of(
        e.nodes, [&](const InstanceNode& node) { return std::ranges::count(node.parameters, p.path) > 0; });
    rows.push_back({p.path, p.zero_row, p.where, shared});
  }
  return rows;
}

// The parameters that train.lora trains. A copy counts like its source, as which it is saved.
PlannedAdapters plan_adapters(const Lora& lora, const std::vector<Named>& freeze, const Instance& e) {
  PlannedAdapters plan{.alpha = lora.alpha, .scale = lora.scale(), .paths = e.adapters, .trained = {}, .frozen = {}};
  for (const Parameter& p : e.parameters) {
    const std::string& path = p.copy ? p.copy->source : p.path;
    if (p.role == ir::Role::param && !p.adapter && trains_itself(lora, path))
      (matches(freeze, path) ? plan.frozen : plan.trained).push_back(p.path);
  }
  return plan;
}

}  // namespace

TrainingPlan plan_training(const Model& model) {
  ModelInstances instances(model);
  return plan_training(instances);
}

const PlannedInput* find_input(const TrainingPlan& plan, const std::string& name) {
  const auto found = std::ranges::find_if(
      plan.inputs, [&](const PlannedInput& input) { return name == input.name || name == input.name + kNameTaken; });
  return found == plan.inputs.end() ? nullptr : &*found;
}

TrainingPlan plan_training(ModelInstances& instances) {
  const Model& model = instances.model();
  TrainingPlan plan;
  plan.name = model.name;
  const auto batch = model.train.sizes.find(model.batch_dimension);
  plan.batch = batch == model.train.sizes.end() ? 1 : batch->second;
  plan.epochs = model.train.epochs;
  plan.steps = model.train.steps;
  plan.seed = model.train.seed;
  plan.drop_last = model.train.drop_last;
  plan.clips = model.train.clip_norm || std::ranges::any_of(model.train.phases, [](const TrainPhase& phase) {
                 return phase.clip_norm.has_value();
               });
  plan.gradient_norm = model.train.gradient_norm;
  plan.data = model.data;
  plan.weights = model.weights;

  Diagnostics errors;
  const Instance& e = instances.at({.batch = plan.batch, .training = false}, errors);
  errors.throw_if_any();
  for (const InputDef& input : model.inputs) {
    ir::Type row = input_type(model, input, plan.batch);
    row.dims.erase(row.dims.begin());
    plan.inputs.push_back({input.name, row});
    plan.inputs.back().channels_first = model.layout == ImageLayout::nchw && row.dims.size() == 3;
    check_maps(plan.inputs.back(), plan.data, errors);
  }
  check_mixing(plan.inputs, plan.data, errors, plan.warnings);
  check_pairs(plan, errors);
  if (model.weights) check_weights_table(*model.weights, e, errors);
  errors.throw_if_any();
  bound_indices(e, plan.inputs);
  check_written_ids(plan, errors);
  plan.padding = padding_rows(e);
  for (const Parameter& p : e.parameters)
    if (p.copy) plan.copies.push_back({p.path, p.copy->source, p.copy->node});
  if (model.train.lora) plan.adapters = plan_adapters(*model.train.lora, model.train.freeze, e);
  plan.memory = plan_memory(model, e, errors);
  plan.in_order = !e.kept.empty();
  if (plan.in_order) guarded(errors, [&] { require_strands(plan, e.kept.front()); });
  guarded(errors, [&] { check_drawing(plan); });
  plan.indices = plan_index_checks(instances, e, errors);
  guarded(errors, [&] { generated_metrics(model); });
  errors.throw_if_any();
  plan.buckets = plan_buckets(instances, plan);
  warn_of_endless_training(model, plan.warnings);
  warn_of_late_pruning(model, plan.warnings);
  warn_of_late_quantization(model, plan.warnings);
  warn_of_mixed(model, e, plan.warnings);
  warn_of_frozen(model.train, e, plan.warnings);
  warn_of_micro_batches(model, e, plan.warnings);
  if (!model.train.losses.empty()) plan.metrics.push_back({"loss"});
  for (const Part& part : model.train.losses) {
    const LossDef& def = *find_loss(part.op);
    warn_of_probabilities(part, e, plan.warnings);
    bound_labels(model, part, def.classes, def.settings, e, plan.inputs);
  }
  for (const Metric& loss : plan_losses(model)) plan.metrics.push_back(loss);
  for (const Metric& metric : plan_metrics(model)) plan.metrics.push_back(metric);
  for (const Part& part : model.train.metrics) {
    const MetricDef& def = *find_metric(part.op);
    bound_labels(model, part, def.classes, def.settings, e, plan.inputs);
    bound_relevances(model, part, def, e, plan);
    warn_of_threshold(model, part, e, plan.warnings);
  }
  if (!pruned_parameters(model.train, e.parameters).empty()) plan.metrics.push_back({kSparsity, true});
  plan_early_stop(model, plan);
  guarded(errors, [&] { warn_of_modes(model, plan.metrics, plan.warnings); });  // an unknown schedule is told elsewhere
  return plan;
}

}  // namespace heddle::frontend
