#include "frontend/build_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "frontend/instantiate/model_outputs.h"
#include "frontend/instantiate/same_network.h"
#include "frontend/keys/fields.h"
#include "frontend/layer_context.h"
#include "frontend/read/read_parts.h"
#include "frontend/training/accumulate.h"
#include "frontend/training/average.h"
#include "frontend/training/copies.h"
#include "frontend/training/index_checks.h"
#include "frontend/training/learning_rate.h"
#include "frontend/training/loss_scale.h"
#include "frontend/training/phases.h"
#include "frontend/training/prune.h"
#include "frontend/training/stored_parameters.h"
#include "frontend/training/train_step.h"
#include "frontend/training/training_def.h"
#include "ir/ops/precision.h"
#include "ir/scan.h"
#include "ir/storage/storage.h"

namespace heddle::frontend {

using ir::ValueId;

namespace {

bool dead(const ir::Graph& g, const ir::Node& n) {
  return std::all_of(n.results.begin(), n.results.end(), [&](ValueId v) { return g.unused(v); });
}

bool is_input(const ir::Graph& g, ValueId v) { return g[v].role == ir::Role::input; }

// Whether the indices were stacked by a loop over micro-batches. Only their check reads them (Stepping::indices).
bool is_stack(const ir::Graph& g, const IndexCheck& check) {
  return !check.known && g[check.indices].def == check.reader;
}

// Removes nodes and inputs on which no result, update or check of stacked indices depends. The input `kept` stays.
void prune(ir::Graph& g, ValueId kept = {}, const std::vector<IndexCheck>& indices = {}) {
  std::set<ir::NodeId> read;
  for (const IndexCheck& check : indices)
    if (is_stack(g, check)) read.insert(check.reader);
  const std::vector<ir::NodeId> order = g.order;
  for (auto it = order.rbegin(); it != order.rend(); ++it)
    if (dead(g, g[*it]) && !read.contains(*it)) g.erase(*it);
  ir::Values gone;
  for (const ValueId v : g.inputs)
    if (v != kept && g.unused(v) && !g.updates.has_state(v)) gone.push_back(v);
  g.remove_inputs(gone);
}

// The smallest input; invalid if there is none. It stays if no other input is used, because a step needs an input for
// its number of rows.
ValueId input_for_rows(const ir::Graph& g) {
  ValueId smallest;
  for (const ValueId v : g.inputs)
    if (is_input(g, v) && (!smallest.valid() || g[v].type.bytes() < g[smallest].type.bytes())) smallest = v;
  return smallest;
}

// Removes unused nodes and inputs, and adds the checks of the remaining indices.
void finish(ir::Graph& g, const std::vector<IndexCheck>& indices) {
  const ValueId rows = input_for_rows(g);
  prune(g, rows, indices);
  const bool others =
      std::any_of(g.inputs.begin(), g.inputs.end(), [&](ValueId v) { return v != rows && is_input(g, v); });
  if (others && g.unused(rows)) g.remove_inputs({rows});
  add_index_checks(g, indices);
}

// Adds the losses and metrics. Results are the loss and, if it depends on the data, its count in the batch, which may
// be 0.
std::vector<MeasureStates> add_measures(Instance& e, const Model& model, const Losses& loss, Diagnostics& errors) {
  e.graph.outputs.push_back(loss.total);
  Totals totals = add_totals(e, model, loss, errors);
  const ir::Node* made_by = totals.counted.valid() ? e.graph.def(totals.counted) : nullptr;
  if (made_by != nullptr && !made_by->op->traits.splat) e.graph.outputs.push_back(totals.counted);
  return std::move(totals.measures);
}

struct TrainGraph {
  ir::Graph graph;
  std::vector<IndexCheck> indices;
  std::vector<Parameter> parameters, averaged;
  std::vector<MeasureStates> measures;
  std::vector<Diagnostic> refusals;  // reasons why it cannot run; it is still built, to find the states
  std::vector<KeptState> kept = {};
};

// An option for losses and metrics, and the bodies of loops that they add.
struct Measured {
  int64_t most_logit_bytes = kMostLogitBytes;
  std::vector<ir::Graph> bodies;  // of loops in losses and metrics
  std::vector<ir::Graph> steps;   // of loops over micro-batches, which scan other bodies
};

// Moves the bodies of loops in losses and metrics to `bodies`. They stand behind the `of_network` bodies of the
// network.
void take_bodies(Instance& e, size_t of_network, std::vector<ir::Graph>& bodies) {
  const auto first = e.bodies.begin() + static_cast<std::ptrdiff_t>(of_network);
  std::move(first, e.bodies.end(), std::back_inserter(bodies));
}

// Adds bodies with new names only: two entries may have micro-batches of the same size, and so the same bodies.
void take_new(std::vector<ir::Graph>& bodies, std::vector<ir::Graph> more) {
  for (ir::Graph& body : more)
    if (std::ranges::count(bodies, body.name, &ir::Graph::name) == 0) bodies.push_back(std::move(body));
}

// Adds the last updates to a training graph and returns it with the tables that the other graphs need.
TrainGraph finished(Instance& e, const Model& model, const std::vector<IndexCheck>& indices,
                    std::vector<MeasureStates> measures, std::vector<Parameter> averages, const std::string& name) {
  for (const ir::Update& u : e.updates) e.graph.updates.push_back(u);
  renew_copies(e);
  skip_overflows(e, model);
  e.graph.name = name;
  return {std::move(e.graph),    indices,          std::move(e.parameters), std::move(averages), std::move(measures),
          std::move(e.refusals), std::move(e.kept)};
}

TrainGraph accumulated_graph(ModelInstances& instances, ir::BatchKind kind, int64_t batch, std::optional<int64_t> steps,
                             Diagnostics& errors, SameNetwork& same, Measured& measured) {
  const Model& model = instances.model();
  const std::string name = ir::entry_name({ir::Phase::train, kind, model.length});
  Accumulated made = accumulate(instances, {name, batch, measured.most_logit_bytes}, same, errors);
  Instance& e = made.instance;
  if (!made.losses.total.valid()) return {};
  e.graph.outputs.push_back(made.losses.total);
  if (made.counted.valid()) e.graph.outputs.push_back(made.counted);
  if (model.train.optimizer) add_updates(e, model, made.losses.total, steps, errors, &made.gradients);
  take_new(measured.bodies, std::move(made.measure_bodies));
  take_new(measured.steps, std::move(made.bodies));
  return finished(e, model, made.indices, std::move(made.measures), averaged(e), name);
}

TrainGraph train_graph(ModelInstances& instances, ir::BatchKind kind, int64_t batch, std::optional<int64_t> steps,
                       Diagnostics& errors, SameNetwork& same, Measured& measured) {
  const Model& model = instances.model();
  if (accumulates(model)) return accumulated_graph(instances, kind, batch, steps, errors, same, measured);
  Instance e = instances.at({.batch = batch, .training = true}, errors);
  const size_t of_network = e.bodies.size();
  e.most_logit_bytes = measured.most_logit_bytes;
  same.require(e);
  guarded(errors, [&] { require_outputs(e, model); });  // not hours later, when somebody predicts
  const std::vector<IndexCheck> indices = index_checks(e, errors);
  std::vector<Parameter> averages;
  std::vector<MeasureStates> measures;
  Losses loss = add_losses(e, model, errors);
  if (loss.total.valid()) {
    if (!model.train.phases.empty()) loss = add_phases(e, model, loss, steps, errors);
    measures = add_measures(e, model, loss, errors);
    if (loss.norm.valid()) e.graph.outputs.push_back(loss.norm);
    if (model.train.optimizer) add_updates(e, model, loss.total, steps, errors);
    averages = averaged(e);
  }
  take_bodies(e, of_network, measured.bodies);
  return finished(e, model, indices, std::move(measures), std::move(averages),
                  ir::entry_name({ir::Phase::train, kind, model.length}));
}

// The graph of an evaluation. It reads the averages of the parameters `averaged` instead of the parameters.
ir::Graph eval_graph(ModelInstances& instances, ir::BatchKind kind, int64_t batch, Diagnostics& errors,
                     SameNetwork& same, const std::vector<Parameter>& averaged, Measured& measured) {
  const Model& model = instances.model();
  Instance e = instances.at({.batch = batch, .training = false}, errors);
  const size_t of_network = e.bodies.size();
  e.most_logit_bytes = measured.most_logit_bytes;
  same.require(e);
  const std::vector<IndexCheck> indices = index_checks(e, errors);
  const Losses loss = add_losses(e, model, errors);
  if (loss.total.valid()) add_measures(e, model, loss, errors);
  read_averages(e, averaged);
  e.graph.name = ir::entry_name({ir::Phase::eval, kind, model.length});
  take_bodies(e, of_network, measured.bodies);
  finish(e.graph, indices);
  return std::move(e.graph);
}

ir::Graph predict_graph(ModelInstances& instances, int64_t batch, Diagnostics& errors, SameNetwork& same) {
  Instance e = instances.at({.batch = batch, .training = false}, errors);
  same.require(e);
  const std::vector<IndexCheck> indices = index_checks(e, errors);
  guarded(errors, [&] { add_outputs(e, instances.model()); });
  e.graph.name = ir::entry_name({ir::Phase::predict});
  finish(e.graph, indices);
  return std::move(e.graph);
}

// Sets the row of an embedding's padding to zeros. Like PyTorch, only the initial value is special, so that a file of
// weights means the same in both.
ValueId with_zero_row(ir::Builder& b, ValueId value, int64_t row) {
  const ir::Type type = b.type(value);
  const ir::Type number{ir::DType::i32, type.dims};
  const ValueId rows = b("iota", {}, {{"axis", int64_t{0}}, {"shape", type.dims}});
  const ValueId drawn = b("ne", {rows, b.constant(static_cast<double>(row), number)});
  return b("select", {drawn, value, b.constant(0, type)});
}

// The graph @init: `seed` comes from the model, parameters and their averages from the initializers, and all other
// states start at their first value, which is mostly 0. `like` is a graph with all states.
ir::Graph init_graph(const Model& model, const ir::Graph& like, const std::vector<Parameter>& parameters) {
  ir::Graph g;
  g.name = ir::entry_name({ir::Phase::init});
  ir::Builder b(g);
  const ir::Type counter{ir::DType::i64, {}};
  const ValueId seed_state = g.add_input("seed", counter, ir::Role::state);
  const ValueId step_state = g.add_input("step", counter, ir::Role::state);
  b.prefix = "seed.init";
  const ValueId seed = b.constant(static_cast<double>(model.train.seed), counter);
  b.prefix = "step.init";
  const ValueId step = b.constant(0, counter);
  g.updates = {{seed_state, seed}, {step_state, step}};
  std::map<std::string, ValueId> starts;  // initial values of states that do not start with 0
  std::map<std::string, ValueId> values;  // initial values of the sources of copies
  for (const Parameter& p : parameters) {
    if (p.copy) {
      g.updates.push_back(
          {g.add_input(p.path, memory_type(p.type, p.layout), p.role, p.layout), values.at(p.copy->source)});
      continue;
    }
    b.loc = p.where;
    b.prefix = p.path + ".value";
    const auto random = [&](std::string_view op) {
      return b(op, {seed, step}, {{"stream", stream_of(p.path)}, {"shape", p.type.dims}}, p.path + ".random");
    };
    const ValueId state = g.add_input(p.path, memory_type(p.type, p.layout), p.role, p.layout);
    ValueId value = p.init.def->build(b, p.type, p.init, random);
    if (p.zero_row >= 0) value = with_zero_row(b, value, p.zero_row);
    // Drawn in the logical order, so that a seed gives the same numbers for any axis order in memory.
    if (!p.layout.empty()) value = b("transpose", {value}, {{"perm", p.layout}});
    if (is_stored(model.train, p)) {
      starts[master_of(p.path)] = value;
      b.prefix = p.path + ".stored";
      value = nearest_stored(b, value);
    }
    g.rename(value, p.path + ".init");
    g.updates.push_back({state, value});
    values[p.path] = starts[average_of(p.path)] = value;
  }
  b.loc = {};
  for (const ValueId v : like.inputs) {
    const ir::Value& value = like[v];
    if (value.role != ir::Role::state || value.name == "seed" || value.name == "step") continue;
    const ValueId state = g.add_input(value.name, value.type, ir::Role::state, value.layout);
    b.prefix = value.name + ".init";
    const auto start = starts.find(value.name);
    g.updates.push_back(
        {state, start == starts.end() ? b.constant(first_value(model.train, value.name), value.type) : start->second});
  }
  return g;
}

int64_t any_batch(const BuildOptions& o) {
  for (const int64_t batch : {o.train, o.eval, o.predict, o.train_last, o.eval_last}) {
    if (batch > 0) return batch;
  }
  return 1;
}

// A list or a matrix is never better than another: said here, before a first epoch has run for nothing.
void require_one_number(const ir::Graph& metrics, const std::optional<EarlyStop>& stop) {
  if (!stop) return;
  for (const ValueId v : metrics.outputs)
    if (metrics[v].name == stop->on && !metrics[v].type.dims.empty())
      throw UserError(stop->where, fmt::format("train: early_stop: {} is not one number", quote(stop->on)),
                      "for example a metric with \"average\": \"macro\"");
}

// Compares the network with that for twice the batch. If the model is not valid for that batch, nothing is reported:
// the batches of the entries are checked when they are built.
void look_at_another_batch(ModelInstances& instances, int64_t batch, SameNetwork& same) {
  if (const Instance* other = instance_of_twice(instances, batch)) same.require(*other);
}

void require_runnable(const TrainGraph& train, Diagnostics& errors) {
  if (!train.refusals.empty()) errors.add(UserError(train.refusals));
}

// Sets the model's precision for all f32 products except those for initial values. In a mixed-precision training, the
// instantiation has already set it.
void allow_precision(ir::Module& m, const std::string& precision) {
  if (precision == "f32" || ir::mixed_type(precision)) return;
  for (ir::Graph* graph : m.all_graphs()) {
    ir::Graph& g = *graph;
    if (!g.body && g.kind().phase == ir::Phase::init) continue;
    for (const ir::NodeId id : g.order) {
      ir::Node& n = g[id];
      if (n.op->find_attr("precision") != nullptr && g[n.operands[0]].type.dtype == ir::DType::f32)
        n.attrs["precision"] = precision;
    }
  }
}

// The bodies that a graph scans, directly or through another body.
std::vector<ir::Graph> scanned(std::vector<ir::Graph> bodies, const std::vector<ir::Graph>& graphs) {
  std::set<std::string> names;
  const auto meet = [&](const ir::Graph& g) {
    for (const ir::NodeId n : g.order)
      if (ir::is_scan(g[n])) names.insert(g[n].callee);
  };
  for (const ir::Graph& g : graphs) meet(g);
  for (size_t i = bodies.size(); i-- > 0;) {
    if (names.contains(bodies[i].name))
      meet(bodies[i]);
    else
      bodies.erase(bodies.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return bodies;
}

// Resets the states of stateful layers to zero at the end of an epoch, because the next one starts at the first row.
void forget(ir::Graph& after_epoch, const std::vector<KeptState>& kept) {
  ir::Builder b(after_epoch);
  for (const KeptState& state : kept) {
    b.prefix = state.path + ".start";
    const ValueId v = after_epoch.add_input(state.path, state.type, ir::Role::state);
    after_epoch.updates.push_back({v, b.constant(0, state.type)});
  }
}

// Adds the graphs that run between epochs and splits: @reset, @metrics and, if a schedule or a stateful layer needs it,
// @after_epoch.
void add_measure_graphs(ir::Module& m, const Model& model, const std::vector<MeasureStates>& measures,
                        const std::vector<KeptState>& kept, const std::vector<const Parameter*>& pruned, bool trains) {
  m.graphs.push_back(reset_graph(measures));
  m.graphs.push_back(metrics_graph(model, measures));
  if (!pruned.empty()) add_sparsity(m.graphs.back(), pruned);
  require_one_number(m.graphs.back(), model.train.early_stop);
  std::optional<ir::Graph> after_epoch;
  if (trains) after_epoch = after_epoch_graph(model, measures);
  if (trains && !kept.empty()) {
    if (!after_epoch) after_epoch.emplace().name = ir::entry_name({ir::Phase::after_epoch});
    forget(*after_epoch, kept);
  }
  if (!after_epoch) return;
  prune(*after_epoch);
  m.graphs.push_back(std::move(*after_epoch));
}

// The entries of one length of shorter rows.
void add_shorter(ir::Module& m, ModelInstances& instances, const BuildOptions& options, std::optional<int64_t> steps,
                 const std::vector<Parameter>& averages, SameNetwork& same, Measured& measured) {
  Diagnostics errors;
  if (options.train > 0) {
    TrainGraph train = train_graph(instances, ir::BatchKind::whole, options.train, steps, errors, same, measured);
    require_runnable(train, errors);
    errors.throw_if_any();
    finish(train.graph, train.indices);
    m.graphs.push_back(std::move(train.graph));
  }
  if (options.eval > 0)
    m.graphs.push_back(eval_graph(instances, ir::BatchKind::whole, options.eval, errors, same, averages, measured));
  errors.throw_if_any();
}

// Checks that states, such as the totals of a metric, have the same type in the entries of all lengths.
void require_same_states(const ir::Module& m, const Buckets& buckets) {
  std::map<std::string, ir::Type> types;
  for (const ir::Graph& g : m.graphs)
    for (const ValueId v : g.inputs) {
      if (!ir::is_state(g[v])) continue;
      const ir::Type& known = types.try_emplace(g[v].name, g[v].type).first->second;
      if (known != g[v].type)
        throw UserError(buckets.where,
                        fmt::format("data: buckets: '{}' is {}, and {} where rows are {} long: what a loss or a metric "
                                    "keeps may not depend on the length of rows",
                                    g[v].name, to_string(known), to_string(g[v].type), g.kind().length),
                        "leave the metric or the buckets out");
    }
}

void add_all_shorter(ir::Module& m, ModelInstances& instances, const BuildOptions& options,
                     std::optional<int64_t> steps, const std::vector<Parameter>& averages, SameNetwork& same,
                     Measured& measured) {
  if (!options.shorter || instances.shorter_count() == 0) return;
  const Buckets& buckets = *instances.model().data.buckets;
  for (size_t i = 0; i < instances.shorter_count(); ++i) {
    try {
      add_shorter(m, instances.shorter(i), options, steps, averages, same, measured);
    } catch (const UserError& error) {
      throw at_length(error, buckets, buckets.lengths[i]);
    }
  }
  require_same_states(m, buckets);
}

}  // namespace

void require_training(const Model& model) {
  const Train& train = model.train;
  if (train.losses.empty())
    throw UserError(train.where, "train has no 'loss'",
                    "for example \"loss\": {\"op\": \"cross_entropy\", \"in\": [\"logits\", \"label\"]}");
  if (!train.optimizer && train.phases.empty())
    throw UserError(train.where, "train has no 'optimizer'",
                    "for example \"optimizer\": {\"op\": \"adam\", \"lr\": 0.001}");
}

BuildOptions default_build_options(const Model& model) {
  const auto it = model.train.sizes.find(model.batch_dimension);
  const int64_t batch = it == model.train.sizes.end() ? 1 : it->second;
  BuildOptions options;
  const bool trains = !model.train.losses.empty() && !optimizers_of(model.train).empty();
  options.train = trains ? batch : 0;
  options.eval = model.train.losses.empty() ? 0 : batch;
  options.predict = model.outputs.empty() ? 0 : batch;
  options.total_steps = model.train.steps;
  return options;
}

ir::Module build_module(const Model& model, const BuildOptions& options) {
  ModelInstances instances(model);
  return build_module(instances, options);
}

ir::Module build_module(ModelInstances& instances, const BuildOptions& options) {
  const Model& model = instances.model();
  // A fault shows in every graph; it is reported by the first that has it.
  Diagnostics errors;
  const std::optional<int64_t> steps = options.total_steps ? options.total_steps : model.train.steps;
  if (options.train > 0 || options.train_last > 0) require_training(model);
  const int64_t batch = options.train > 0 ? options.train : any_batch(options);
  SameNetwork same;
  Measured measured{options.most_logit_bytes, {}, {}};
  TrainGraph train = train_graph(instances, ir::BatchKind::whole, batch, steps, errors, same, measured);
  if (options.train > 0) require_runnable(train, errors);
  errors.throw_if_any();
  look_at_another_batch(instances, batch, same);
  require_gradients_of_two_rows(instances, batch);
  ir::Module m;
  m.graphs.push_back(init_graph(model, train.graph, train.parameters));
  if (options.train > 0) {
    finish(train.graph, train.indices);
    m.graphs.push_back(std::move(train.graph));
  }
  if (options.train_last > 0) {
    TrainGraph last =
        train_graph(instances, ir::BatchKind::remainder, options.train_last, steps, errors, same, measured);
    require_runnable(last, errors);
    finish(last.graph, last.indices);
    m.graphs.push_back(std::move(last.graph));
  }
  // Without a training there are weights, and no averages beside them.
  const bool trains = options.train > 0 || options.train_last > 0;
  const std::vector<Parameter> averages = trains ? train.averaged : std::vector<Parameter>{};
  if (options.eval > 0)
    m.graphs.push_back(eval_graph(instances, ir::BatchKind::whole, options.eval, errors, same, averages, measured));
  if (options.eval_last > 0)
    m.graphs.push_back(
        eval_graph(instances, ir::BatchKind::remainder, options.eval_last, errors, same, averages, measured));
  errors.throw_if_any();
  add_all_shorter(m, instances, options, steps, averages, same, measured);
  if (options.predict > 0) m.graphs.push_back(predict_graph(instances, options.predict, errors, same));
  errors.throw_if_any();
  if (!averages.empty()) m.graphs.push_back(take_average_graph(model.train, averages));
  if (!model.train.losses.empty() && options.train + options.train_last + options.eval + options.eval_last > 0)
    add_measure_graphs(m, model, train.measures, train.kept, pruned_parameters(model.train, train.parameters),
                       options.train > 0);
  std::ranges::move(instances.bodies(), std::back_inserter(measured.bodies));
  std::ranges::move(measured.steps, std::back_inserter(measured.bodies));
  m.bodies = scanned(std::move(measured.bodies), m.graphs);
  allow_precision(m, model.train.precision);
  if (model.train.stored) store_parameters(m);
  return m;
}

}  // namespace heddle::frontend
