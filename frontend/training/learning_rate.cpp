#include "frontend/training/learning_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "frontend/keys/fields.h"
#include "frontend/training/training_def.h"

namespace heddle::frontend {

using ir::ValueId;

namespace {

// Not a number, nor an expression for one.
bool is_schedule(const Json* lr) {
  if (lr == nullptr || lr->kind == Json::Kind::integer || lr->kind == Json::Kind::real) return false;
  return lr->kind != Json::Kind::text || find_schedule(lr->text) != nullptr;
}

const ScheduleDef& schedule_of(const Part& part) {
  const ScheduleDef* def = find_schedule(part.op);
  if (def == nullptr)
    throw UserError(part.op_where, fmt::format("there is no schedule {}", quote(part.op)),
                    suggest(part.op, schedule_names()));
  return *def;
}

// A word that is no size and no schedule was to be one of the schedules.
void require_no_word(const Settings& optimizer, const Json* lr) {
  if (lr == nullptr || lr->kind != Json::Kind::text || !is_name(lr->text) || optimizer.scope().find(lr->text)) return;
  std::vector<std::string> known = optimizer.scope().all_names();
  std::ranges::copy(schedule_names(), std::back_inserter(known));
  optimizer.fail("lr", fmt::format("'lr': {} is not defined, and no schedule", quote(lr->text)),
                 suggest(lr->text, known));
}

double constant_rate(const Settings& optimizer) {
  require_no_word(optimizer, optimizer.json("lr"));
  const double lr = optimizer.real("lr");
  if (lr < 0)
    optimizer.fail("lr", fmt::format("'lr' must not be negative, is {}", lr),
                   "a step against the gradient lowers the loss");
  if (lr > static_cast<double>(std::numeric_limits<float>::max()))
    optimizer.fail("lr", fmt::format("'lr' is not an f32: {}", lr));
  return lr;
}

// From the next number, which optimizers read, too: a kernel that reads both could not have either
// renewed in place. f64 holds each number exactly.
ValueId finished_steps(ir::Builder& b, ValueId step) {
  const ValueId next = b("add", {step, b.like(1, step)}, {}, "lr.next");
  const ValueId wide = b("cast", {next}, {{"dtype", std::string("f64")}}, "lr.next_wide");
  const ValueId finished = b("sub", {wide, b.like(1, wide)}, {}, "lr.finished");
  return b("cast", {finished}, {{"dtype", std::string("f32")}}, "lr.step");
}

ir::Values add_states(ir::Graph& g, const ScheduleDef& def, const std::string& prefix) {
  ir::Values states;
  for (const std::string& name : def.states)
    states.push_back(g.add_input(fmt::format("{}lr.{}", prefix, name), {ir::DType::f64, {}}, ir::Role::state));
  return states;
}

ValueId scheduled(ir::Builder& b, const Part& part, const Scope& let, const std::string& prefix, ValueId step,
                  std::optional<int64_t> total_steps) {
  const ScheduleDef& def = schedule_of(part);
  Diagnostics errors;
  const std::string title = "schedule " + part.op;
  check_keys({part.settings, part.nulls}, {def.settings}, {title, part.op_where, "setting"}, errors);
  errors.throw_if_any();
  if (def.needs_total && !total_steps) {
    throw UserError(part.op_where, fmt::format("{} needs the length of the training", title),
                    "give train.steps, or train.epochs and data whose rows can be counted");
  }
  const Settings settings(part.settings, def.settings, let, title, part.op_where);
  b.loc = part.op_where;
  ScheduleContext context{b,
                          settings,
                          finished_steps(b, step),
                          static_cast<double>(total_steps.value_or(0)),
                          add_states(b.graph, def, prefix),
                          {}};
  return def.build(context);
}

// The result of @metrics that the schedule looks at.
ValueId measured(const ir::Graph& g, const Settings& settings) {
  const std::string on = settings.text("on");
  std::vector<std::string> names;
  for (const ValueId v : g.outputs) {
    if (g[v].name != on) {
      names.push_back(g[v].name);
      continue;
    }
    if (!g[v].type.dims.empty())
      settings.fail("on", fmt::format("'on': the metric {} is not one number", quote(on)),
                    "for example one with \"average\": \"macro\"");
    return v;
  }
  settings.fail("on", fmt::format("'on': there is no loss or metric {}", quote(on)), suggest(on, names));
}

}  // namespace

std::vector<std::string> group_names(const Optimizer& optimizer) {
  std::vector<std::string> names;
  for (size_t i = 1; i <= optimizer.groups.size(); ++i) names.push_back(fmt::format("group_{}.", i));
  return names;
}

std::vector<PlayersOptimizer> optimizers_of(const Train& train) {
  std::vector<PlayersOptimizer> all;
  if (train.optimizer) all.push_back({"", &*train.optimizer});
  for (const TrainPhase& phase : train.phases)
    if (phase.optimizer) all.push_back({phase.name + ".", &*phase.optimizer});
  return all;
}

ValueId add_learning_rate(ir::Builder& b, const Settings& optimizer, const std::string& prefix, ValueId step,
                          std::optional<int64_t> total_steps) {
  const Location where = b.loc;
  b.prefix = "lr.constant";
  const Json* given = optimizer.json("lr");
  ValueId lr;
  if (is_schedule(given)) {
    lr = scheduled(b, read_part(*given, "optimizer: 'lr'"), optimizer.scope(), prefix, step, total_steps);
  } else {
    lr = b.constant(constant_rate(optimizer), {ir::DType::f32, {}});
  }
  b.graph.rename(lr, prefix + "lr");
  b.loc = where;
  return lr;
}

namespace {

// The "lr" of the optimizer and of each group that has its own, where that is a schedule.
struct Scheduled {
  std::string prefix;
  Part part;
  const ScheduleDef* def = nullptr;
};

std::vector<Scheduled> schedules(const Train& train) {
  std::vector<Scheduled> all;
  const auto add = [&](const std::string& prefix, const std::vector<Json>& settings) {
    const auto lr = std::find_if(settings.begin(), settings.end(), [](const Json& s) { return s.key == "lr"; });
    if (lr == settings.end() || !is_schedule(&*lr)) return;
    const Part part = read_part(*lr, "optimizer: 'lr'");
    all.push_back({prefix, part, &schedule_of(part)});
  };
  for (const auto& [prefix, optimizer] : optimizers_of(train)) {
    add(prefix, optimizer->settings);
    const std::vector<std::string> names = group_names(*optimizer);
    for (size_t i = 0; i < optimizer->groups.size(); ++i)
      if (optimizer->groups[i].has_lr) add(prefix + names[i], optimizer->groups[i].settings);
  }
  return all;
}

// Of one schedule, which looks at the results that the graph has.
void add_after_epoch(ir::Builder& b, const Scheduled& schedule, const Scope& let) {
  b.loc = schedule.part.op_where;
  b.prefix = "lr.constant";
  const std::string title = "schedule " + schedule.part.op;
  const Settings settings(schedule.part.settings, schedule.def->settings, let, title, b.loc);
  ScheduleContext context{
      b, settings, {}, 0, add_states(b.graph, *schedule.def, schedule.prefix), measured(b.graph, settings)};
  const ir::Values next = schedule.def->after_epoch(context);
  for (size_t i = 0; i < next.size(); ++i) b.graph.updates.push_back({context.states[i], next[i]});
}

}  // namespace

bool needs_length(const Model& model) {
  try {
    const std::vector<Scheduled> all = schedules(model.train);
    return std::any_of(all.begin(), all.end(), [](const Scheduled& s) { return s.def->needs_total; });
  } catch (const UserError&) {
    return false;  // reported where the training step is built
  }
}

void warn_of_modes(const Model& model, const std::vector<Metric>& metrics, std::vector<Diagnostic>& warnings) {
  for (const Scheduled& schedule : schedules(model.train)) {
    if (!schedule.def->after_epoch) continue;
    const Settings settings(schedule.part.settings, schedule.def->settings, model.let, "schedule " + schedule.part.op,
                            schedule.part.op_where);
    const auto metric = std::ranges::find(metrics, settings.text("on"), &Metric::name);
    if (settings.json("mode") != nullptr || metric == metrics.end() || !metric->higher_is_better) continue;
    warnings.push_back({Severity::warning,
                        settings.where("on"),
                        fmt::format("{} takes a smaller {} for a better one", schedule.part.op, quote(metric->name)),
                        {},
                        "write \"mode\": \"max\""});
  }
}

std::optional<ir::Graph> learning_rate_graph(const Model& model, std::optional<int64_t> total_steps) {
  const std::vector<PlayersOptimizer> players = optimizers_of(model.train);
  if (model.train.losses.empty() || players.empty()) return std::nullopt;
  const Optimizer& optimizer = *players.front().optimizer;
  const int64_t every = model.train.phases.empty() ? 1 : model.train.phases.front().every;
  const Settings settings(optimizer.settings, find_optimizer(optimizer.op)->settings, model.let,
                          "optimizer " + optimizer.op, optimizer.op_where);
  ir::Graph g;
  g.name = ir::entry_name({ir::Phase::train});
  const ValueId step = g.add_input("step", {ir::DType::i64, {}}, ir::Role::state);
  ir::Builder b(g);
  const ValueId own = every == 1 ? step : b("div", {step, b.like(static_cast<double>(every), step)}, {}, "lr.own_step");
  if (total_steps) total_steps = std::max<int64_t>(1, *total_steps / every);
  g.outputs = {add_learning_rate(b, settings, players.front().prefix, own, total_steps)};
  if (every > 1 && g.unused(own)) g.erase(g[own].def);
  if (g.unused(step)) g.remove_inputs({step});
  return g;
}

std::optional<ir::Graph> after_epoch_graph(const Model& model, const std::vector<MeasureStates>& measures) {
  std::vector<Scheduled> all = schedules(model.train);
  std::erase_if(all, [](const Scheduled& s) { return !s.def->after_epoch; });
  if (all.empty()) return std::nullopt;
  ir::Graph g = metrics_graph(model, measures);
  g.name = ir::entry_name({ir::Phase::after_epoch});
  ir::Builder b(g);
  for (const Scheduled& schedule : all) add_after_epoch(b, schedule, model.let);
  g.outputs.clear();
  return g;
}

}  // namespace heddle::frontend
