#include "frontend/training/train_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "frontend/keys/fields.h"
#include "frontend/optimizers/parts.h"
#include "frontend/training/average.h"
#include "frontend/training/learning_rate.h"
#include "frontend/training/loss_scale.h"
#include "frontend/training/parameter_patterns.h"
#include "frontend/training/prune.h"
#include "frontend/training/sparse_update.h"
#include "frontend/training/stored_parameters.h"
#include "frontend/training/training_def.h"
#include "frontend/training/weight_rules.h"
#include "ir/gradient_flow.h"

namespace heddle::frontend {

using ir::ValueId;

std::vector<bool> ancestors(const ir::Graph& g, ValueId of) {
  std::vector<bool> reached(g.value_count());
  reached[static_cast<size_t>(of.index)] = true;
  for (auto it = g.order.rbegin(); it != g.order.rend(); ++it) {
    const ir::Node& n = g[*it];
    const bool needed = std::any_of(n.results.begin(), n.results.end(),
                                    [&](ValueId v) { return reached[static_cast<size_t>(v.index)]; });
    if (!needed) continue;
    for (const ValueId v : ir::differentiable_operands(n))
      if (ir::is_floating(g[v].type.dtype)) reached[static_cast<size_t>(v.index)] = true;
  }
  return reached;
}

ValueId norm_of(ir::Builder& b, const ir::Values& gradients, const std::string& name) {
  const ValueId squared = b("squared_norm", gradients, {}, "gradient.squared_norm");
  return b("sqrt", {squared}, {}, name);
}

ValueId is_nth(ir::Builder& b, ValueId step, int64_t n, const std::string& name) {
  b.prefix = name + ".every";
  const ValueId next = b("add", {step, b.like(1, step)}, {}, name + ".step.next");
  const ValueId rest = b("mod", {next, b.like(static_cast<double>(n), step)}, {}, name + ".rest");
  return b("eq", {rest, b.like(0, rest)}, {}, name + ".runs");
}

ValueId if_runs(ir::Builder& b, ValueId runs, ValueId next, ValueId before, std::string name) {
  if (!runs.valid()) return next;
  const ir::Dims dims = b.type(next).dims;
  const ValueId spread = dims.empty() ? runs : b("broadcast", {runs}, {{"shape", dims}}, name + ".runs");
  return b("select", {spread, next, before}, {}, std::move(name) + ".if_runs");
}

namespace {

// The parameters on which the loss depends and that are not frozen.
std::vector<Parameter> trainable(const Instance& e, const Model& model, ValueId loss, Diagnostics& errors) {
  check_patterns(model.train.freeze, e, "freezes no parameter", errors);
  const std::vector<bool> reached = ancestors(e.graph, loss);
  std::vector<Parameter> out;
  for (const Parameter& p : e.parameters) {
    if (p.role != ir::Role::param) continue;
    if (reached[static_cast<size_t>(p.value.index)] && !is_frozen(model.train, p)) out.push_back(p);
  }
  return out;
}

// Throws the error for a training without trainable parameters, with the reason.
[[noreturn]] void refuse_nothing(const Instance& e, const Model& model, ValueId loss) {
  Diagnostics ignored;
  Model free = model;
  free.train.freeze.clear();
  if (!model.train.freeze.empty() && !trainable(e, free, loss, ignored).empty())
    throw UserError(model.train.freeze.front().where,
                    "there is nothing to train: 'freeze' holds every parameter that the loss depends on",
                    "leave one out of \"freeze\"");
  if (model.train.lora)
    throw UserError(model.train.lora->where, "there is nothing to train: the loss depends on no adapter of 'lora'",
                    "match layers on the way to the loss; no gradient passes through stop_gradient and integers");
  throw UserError(
      model.train.optimizer->op_where, "there is nothing to train: the loss depends on no parameter",
      "no gradient passes through stop_gradient, integers and conditions: argmax, a comparison, a cast to integers");
}

// factor = min(1, limit / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_.
void clip(ir::Builder& b, ir::Values& gradients, ValueId norm, double limit) {
  const ValueId guarded_norm = b("add", {norm, b.like(1e-6, norm)}, {}, "clip.guarded_norm");
  const ValueId ratio = b("div", {b.like(limit, norm), guarded_norm}, {}, "clip.ratio");
  const ValueId factor = b("min", {ratio, b.like(1, ratio)}, {}, "clip.factor");
  for (ValueId& g : gradients) {
    const std::string name = b.graph[g].name;
    const ir::Dims dims = b.type(g).dims;
    const ValueId spread = dims.empty() ? factor : b("broadcast", {factor}, {{"shape", dims}}, name + ".factor");
    g = b("mul", {g, spread}, {}, name + ".clipped");
  }
}

// Parameters with one set of settings: a group of the optimizer, or those that no group matches.
struct Group {
  std::string prefix;                         // of states: "", "group_1."
  const std::vector<Named>* match = nullptr;  // nullptr: all remaining parameters
  Settings settings;
  double decay = 0;
  ValueId lr = {};
  std::map<std::string, ValueId> shared = {};  // made once per step

  bool takes(const std::string& path) const { return match == nullptr || matches(*match, path); }
};

class Updates {
 public:
  Updates(Instance& e, const Model& model, const Player& player)
      : e_(e),
        model_(model),
        player_(player),
        optimizer_(player.optimizer),
        def_(*find_optimizer(optimizer_.op)),
        b_(e.graph) {
    b_.loc = optimizer_.op_where;
    b_.prefix = "optimizer.constant";
  }

  ir::Values add() {
    const bool alone = player_.prefix.empty();
    ir::Values gradients;
    if (player_.gradients.empty())
      for (const Parameter& p : player_.parameters) gradients.push_back(gradient(p, player_.loss));
    else
      gradients = take_gradients();
    if (player_.unscale) player_.unscale(gradients);
    for (size_t i = 0; i < gradients.size(); ++i)
      if (const Parameter& p = player_.parameters[i]; is_pruned(model_.train, p))
        gradients[i] = zero_where(b_, pruned_state(e_.graph, p), gradients[i], e_.graph[gradients[i]].name);
    b_.prefix = "optimizer.constant";
    ir::Values whole = gradients;
    if (player_.clip_norm || (alone && model_.train.gradient_norm)) {
      const ValueId norm = norm_of(b_, gradients, player_.prefix + std::string(ir::output_name(ir::OutputRole::norm)));
      if (alone) e_.graph.outputs.push_back(norm);
      if (player_.clip_norm) clip(b_, gradients, norm, *player_.clip_norm);
    }
    step_ = player_.step.valid() ? player_.step : e_.counter("step");
    make_groups();
    for (size_t i = 0; i < gradients.size(); ++i) update(player_.parameters[i], gradients[i]);
    return whole;
  }

 private:
  ValueId gradient(const Parameter& p, ValueId loss) {
    if (!p.sparse) return b_("gradient", {loss, p.value}, {}, p.path + ".grad");
    require_sparse_rule(p, model_, def_);
    const ir::Values lookups = lookups_of(e_, p, ancestors(e_.graph, loss));
    const SparseRows rows = sparse_rows(b_, p, looked_up(b_, p, lookups, loss));
    sparse_[p.path] = rows;
    return rows.gradient;
  }

  ir::Values take_gradients() {
    for (const Parameter& p : player_.parameters)
      if (p.sparse) require_sparse_rule(p, model_, def_);
    sparse_ = player_.sparse;
    return player_.gradients;
  }

  // The groups of the model in their order, then the group of the remaining parameters. Groups without a rate use its
  // rate.
  void make_groups() {
    const std::vector<std::string> names = group_names(optimizer_);
    for (size_t i = 0; i < optimizer_.groups.size(); ++i) {
      const OptimizerGroup& group = optimizer_.groups[i];
      groups_.push_back(checked(player_.prefix + names[i], &group.match, group.settings, group.where));
    }
    groups_.push_back(checked(player_.prefix, nullptr, optimizer_.settings, optimizer_.op_where));
    groups_.back().lr = add_learning_rate(b_, groups_.back().settings, player_.prefix, step_, player_.total_steps);
    for (size_t i = 0; i < optimizer_.groups.size(); ++i) {
      Group& group = groups_[i];
      group.lr = optimizer_.groups[i].has_lr
                     ? add_learning_rate(b_, group.settings, group.prefix, step_, player_.total_steps)
                     : groups_.back().lr;
    }
  }

  Group checked(const std::string& prefix, const std::vector<Named>* match, const std::vector<Json>& given,
                const Location& where) const {
    Group group{.prefix = prefix,
                .match = match,
                .settings = Settings(given, def_.settings, model_.let, "optimizer " + optimizer_.op, where)};
    group.settings.check_ranges();
    if (def_.check) def_.check(group.settings);
    group.decay = group.settings.real("weight_decay");
    return group;
  }

  void update(const Parameter& p, ValueId gradient) {
    Group& group = *std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) { return g.takes(p.path); });
    ir::Values slots;
    for (const std::string& name : def_.slots(group.settings))
      slots.push_back(e_.graph.add_input(p.path + "." + name, b_.type(p.value), ir::Role::state, p.layout));
    const bool decays = group.settings.text("decay") != "matrices" || p.type.rank() >= 2;
    const double decay = decays ? group.decay : 0;
    if (p.sparse) require_no_decay(p, def_, group.settings, decay);
    const auto of_rule = [&](ValueId v) { return p.sparse ? read_rows(b_, sparse_.at(p.path), v) : v; };
    const ValueId trained = trained_state(e_, model_.train, p);
    ir::Values read;
    for (const ValueId slot : slots) read.push_back(of_rule(slot));
    UpdateContext context{
        b_,
        group.settings,
        of_rule(trained),
        gradient,
        read,
        group.lr,
        step_,
        decay,
        p.sparse.has_value(),
        p.path,
        [&](const std::string& name, const std::function<ValueId()>& make) { return shared(group, name, make); },
        [&](const std::string& name, const std::function<ValueId(ValueId)>& next) { return kept(group, name, next); }};
    const UpdateResult next = def_.update(context);
    const auto renew = [&](ValueId state, ValueId v, ValueId before) {
      e_.graph.updates.push_back({state, p.sparse ? next_rows(p, state, v, before) : next_of(state, v)});
    };
    ValueId parameter = constrained(e_.graph, model_, p, next.parameter), pruned;
    if (is_pruned(model_.train, p)) {
      pruned = prune_more(b_, *model_.train.prune, p, parameter, step_, context.shared);
      parameter = zero_where(b_, pruned, parameter, p.path);
      renew(pruned_state(e_.graph, p), pruned, {});  // of no sparse rows
    }
    const ValueId exact = parameter;
    if (is_stored(model_.train, p)) parameter = rounded_parameter(e_, b_, model_.train, p, parameter);
    if (trained != p.value) {
      renew(p.value, parameter, p.sparse ? of_rule(p.value) : ValueId{});
      parameter = exact;
    }
    renew(trained, parameter, context.parameter);
    for (size_t i = 0; i < slots.size(); ++i) renew(slots[i], next.slots.at(i), read[i]);
    if (!model_.train.average) return;
    ir::Update average = add_average(e_, *model_.train.average, p, parameter, step_, context.shared);
    if (pruned.valid()) average.next = zero_where(b_, pruned, average.next, average_of(p.path));
    e_.graph.updates.push_back({average.state, next_of(average.state, average.next)});
  }

  // The next value of a state, which stays unchanged in steps in which the player does not run.
  ValueId next_of(ValueId state, ValueId next) { return if_runs(b_, player_.runs, next, state, e_.graph[state].name); }

  // The table with its next rows. `next` and `before` are rows of the table. A skipped step writes the rows unchanged.
  ValueId next_rows(const Parameter& p, ValueId table, ValueId next, ValueId before) {
    const ValueId kept = if_runs(b_, clean_step(e_.graph), next, before, e_.graph[table].name + ".rows");
    return write_rows(b_, sparse_.at(p.path), table, kept);
  }

  ValueId shared(Group& group, const std::string& name, const std::function<ValueId()>& make) {
    const auto it = group.shared.find(name);
    if (it != group.shared.end()) return it->second;
    const std::string prefix = b_.prefix;
    b_.prefix = name + ".constant";
    const ValueId v = make();
    b_.prefix = prefix;
    return group.shared[name] = v;
  }

  ValueId kept(Group& group, const std::string& name, const std::function<ValueId(ValueId)>& next) {
    return shared(group, name + ".next", [&] {
      const ValueId old = e_.graph.add_input(group.prefix + name, {ir::DType::f64, {}}, ir::Role::state);
      const ValueId v = next_of(old, next(old));
      e_.graph.updates.push_back({old, v});
      return v;
    });
  }

  Instance& e_;
  const Model& model_;
  const Player& player_;
  const Optimizer& optimizer_;
  const OptimizerDef& def_;
  ir::Builder b_;
  std::vector<Group> groups_;
  std::map<std::string, SparseRows> sparse_;  // by the parameter's path
  ValueId step_;
};

}  // namespace

void check_groups(const Instance& e, const Optimizer& optimizer, Diagnostics& errors) {
  std::vector<std::string> left = paths_of(e, ir::Role::param);
  const std::vector<std::string> all = left;
  for (const OptimizerGroup& group : optimizer.groups) {
    check_patterns(group.match, e, "matches no parameter", errors);
    const auto taken =
        std::remove_if(left.begin(), left.end(), [&](const std::string& path) { return matches(group.match, path); });
    const bool matched =
        std::any_of(all.begin(), all.end(), [&](const std::string& path) { return matches(group.match, path); });
    if (matched && taken == left.end())
      errors.error(group.where, "earlier groups take all parameters that it matches",
                   "the first group that matches a parameter counts: put the narrower one first");
    left.erase(taken, left.end());
  }
}

ir::Values add_player(Instance& e, const Model& model, const Player& player) { return Updates(e, model, player).add(); }

void count_step(Instance& e, const Location& where) {
  ir::Builder b(e.graph);
  b.loc = where;
  b.prefix = "step.one";
  const ValueId step = e.counter("step");
  e.graph.updates.push_back({step, b("add", {step, b.like(1, step)}, {}, "step.next")});
}

void add_updates(Instance& e, const Model& model, ValueId loss, std::optional<int64_t> total_steps, Diagnostics& errors,
                 const Gradients* made) {
  guarded(errors, [&] {
    std::vector<Parameter> parameters = trainable(e, model, loss, errors);
    if (made != nullptr) parameters = made->parameters;
    if (parameters.empty()) refuse_nothing(e, model, loss);
    check_groups(e, *model.train.optimizer, errors);
    for (const WeightRule& rule : model.train.constrain) check_patterns(rule.match, e, "matches no parameter", errors);
    const Optimizer& optimizer = *model.train.optimizer;
    Player player{.optimizer = optimizer,
                  .clip_norm = model.train.clip_norm,
                  .prefix = "",
                  .parameters = parameters,
                  .loss = loss,
                  .total_steps = total_steps,
                  .gradients = made != nullptr ? made->values : ir::Values{},
                  .sparse = made != nullptr ? made->sparse : std::map<std::string, SparseRows>{}};
    std::optional<LossScaling> scaling;
    if (model.train.loss_scale) {
      scaling.emplace(e, *model.train.loss_scale);
      if (made == nullptr) player.loss = scaling->scaled(loss);  // else they are of a scaled loss already
      player.unscale = [&](ir::Values& gradients) { scaling->unscale(gradients); };
    }
    add_player(e, model, player);
    count_step(e, optimizer.op_where);
  });
}

}  // namespace heddle::frontend
