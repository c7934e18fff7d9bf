#include "frontend/learning_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "frontend/fields.h"
#include "frontend/training_def.h"

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

double constant_rate(const Settings& optimizer) {
  const double lr = optimizer.real("lr");
  if (lr < 0)
    optimizer.fail("lr", fmt::format("'lr' must not be negative, is {}", lr),
                   "a step against the gradient lowers the loss");
  if (lr > static_cast<double>(std::numeric_limits<float>::max()))
    optimizer.fail("lr", fmt::format("'lr' is not an f32: {}", lr));
  return lr;
}

// From the next number, which optimizers read, too: a kernel that reads both could not have either renewed in place. f64
// holds each number exactly.
ValueId finished_steps(ir::Builder& b, ValueId step) {
  const ValueId next = b("add", {step, b.like(1, step)}, {}, "lr.next");
  const ValueId wide = b("cast", {next}, {{"dtype", std::string("f64")}}, "lr.next_wide");
  const ValueId finished = b("sub", {wide, b.like(1, wide)}, {}, "lr.finished");
  return b("cast", {finished}, {{"dtype", std::string("f32")}}, "lr.step");
}

ir::Values add_states(ir::Graph& g, const ScheduleDef& def) {
  ir::Values states;
  for (const std::string& name : def.states)
    states.push_back(g.add_input("lr." + name, {ir::DType::f64, {}}, ir::Role::state));
  return states;
}

ValueId scheduled(ir::Builder& b, const Part& part, const Scope& let, ValueId step,
                  std::optional<int64_t> total_steps) {
  const ScheduleDef& def = schedule_of(part);
  Diagnostics errors;
  const std::string title = "schedule " + part.op;
  check_settings(part.settings, def.settings, title, part.op_where, {"op"}, errors);
  errors.throw_if_any();
  if (def.needs_total && !total_steps) {
    throw UserError(part.op_where, fmt::format("{} needs the length of the training", title),
                    "give train.steps, or train.epochs and data whose rows can be counted");
  }
  const Settings settings(part.settings, def.settings, let, title, part.op_where);
  b.loc = part.op_where;
  ScheduleContext context{
      b, settings, finished_steps(b, step), static_cast<double>(total_steps.value_or(0)), add_states(b.graph, def), {}};
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

ValueId add_learning_rate(ir::Builder& b, const Settings& optimizer, ValueId step, std::optional<int64_t> total_steps) {
  const Location where = b.loc;
  b.prefix = "lr.constant";
  const Json* given = optimizer.json("lr");
  ValueId lr;
  if (is_schedule(given)) {
    lr = scheduled(b, read_part(*given, "optimizer: 'lr'"), optimizer.scope(), step, total_steps);
  } else {
    lr = b.constant(constant_rate(optimizer), {ir::DType::f32, {}});
  }
  b.graph.rename(lr, "lr");
  b.loc = where;
  return lr;
}

namespace {

const Json* given_rate(const Model& model) {
  const std::vector<Json>& settings = model.train.optimizer->settings;
  const auto lr = std::find_if(settings.begin(), settings.end(), [](const Json& s) { return s.key == "lr"; });
  return lr == settings.end() ? nullptr : &*lr;
}

}  // namespace

bool needs_length(const Model& model) {
  const Json* lr = model.train.optimizer ? given_rate(model) : nullptr;
  if (lr == nullptr) return false;
  const Json* op = lr->kind == Json::Kind::object ? lr->find("op") : lr;
  const ScheduleDef* def = op != nullptr && op->kind == Json::Kind::text ? find_schedule(op->text) : nullptr;
  return def != nullptr && def->needs_total;
}

std::optional<ir::Graph> after_epoch_graph(const Model& model, const std::vector<MeasureStates>& measures) {
  const Json* lr = given_rate(model);
  if (!is_schedule(lr)) return std::nullopt;
  const Part part = read_part(*lr, "optimizer: 'lr'");
  const ScheduleDef& def = schedule_of(part);
  if (!def.after_epoch) return std::nullopt;
  ir::Graph g = metrics_graph(model, measures);
  g.name = "after_epoch";
  ir::Builder b(g);
  b.loc = part.op_where;
  b.prefix = "lr.constant";
  const Settings settings(part.settings, def.settings, model.let, "schedule " + part.op, part.op_where);
  ScheduleContext context{b, settings, {}, 0, add_states(g, def), measured(g, settings)};
  const ir::Values next = def.after_epoch(context);
  for (size_t i = 0; i < next.size(); ++i) g.updates.push_back({context.states[i], next[i]});
  g.outputs.clear();
  return g;
}

}  // namespace heddle::frontend
