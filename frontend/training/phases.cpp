#include "frontend/training/phases.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "frontend/keys/fields.h"
#include "frontend/training/loss_scale.h"
#include "frontend/training/parameter_patterns.h"
#include "frontend/training/weight_rules.h"
#include "ir/dependencies.h"
#include "ir/gradient_flow.h"
#include "ir/op_def.h"

namespace heddle::frontend {

using ir::NodeId;
using ir::ValueId;

namespace {

using ValueSet = std::set<ValueId>;

ValueSet cone(const ir::Graph& g, const ir::Values& of) {
  const std::vector<char> reached = ir::dependencies(g, of);
  ValueSet values;
  for (size_t i = 0; i < reached.size(); ++i)
    if (reached[i] != 0) values.insert(values.end(), ValueId{static_cast<int32_t>(i)});
  return values;
}

// What depends on values, these included.
ValueSet dependents(const ir::Graph& g, const std::vector<NodeId>& order, ValueSet of) {
  for (const NodeId id : order)
    if (std::ranges::any_of(g[id].operands, [&](ValueId v) { return of.contains(v); }))
      of.insert(g[id].results.begin(), g[id].results.end());
  return of;
}

// Which parameters each phase trains.
class Shares {
 public:
  Shares(const Instance& e, const Model& model, const Losses& losses, Diagnostics& errors) : model_(model) {
    check_patterns(model.train.freeze, e, "freezes no parameter", errors);
    for (const WeightRule& rule : model.train.constrain) check_patterns(rule.match, e, "matches no parameter", errors);
    std::set<std::string> reached_by_any;
    for (size_t k = 0; k < phases().size(); ++k) {
      const TrainPhase& phase = phases()[k];
      check_patterns(phase.parameters, e, "matches no parameter", errors);
      check_groups(e, *phase.optimizer, errors);
      const std::vector<bool> reached = ancestors(e.graph, losses.phases[k]);
      of.emplace_back();
      for (const Parameter& p : e.parameters) {
        if (p.role != ir::Role::param || is_frozen(model.train, p)) continue;
        const bool reaches = reached[static_cast<size_t>(p.value.index)];
        if (reaches) reached_by_any.insert(p.path);
        if (!matches(phase.parameters, p.path)) continue;
        guarded(errors, [&] { take(p, k); });
        if (reaches) of.back().push_back(p);
      }
      if (of.back().empty())
        errors.error(phase.where,
                     fmt::format("phase '{}': there is nothing to train: its loss depends on none of its parameters",
                                 phase.name),
                     "no gradient passes through stop_gradient; \"freeze\" holds parameters back");
    }
    for (const std::string& path : reached_by_any)
      if (!owner_.contains(path))
        errors.error(model.train.phases.front().where, fmt::format("'{}' belongs to no phase", path),
                     "name it in the \"parameters\" of a phase, or in \"freeze\"");
  }

  std::vector<std::vector<Parameter>> of;  // by phase

 private:
  const std::vector<TrainPhase>& phases() const { return model_.train.phases; }

  void take(const Parameter& p, size_t k) {
    const auto [at, is_new] = owner_.emplace(p.path, k);
    if (!is_new && at->second != k) {
      const auto pattern =
          std::ranges::find_if(phases()[k].parameters, [&](const Named& glob) { return matches({glob}, p.path); });
      throw UserError(pattern->where,
                      fmt::format("'{}' belongs to phase '{}' already", p.path, phases()[at->second].name),
                      "a parameter is renewed once in a step: by one phase");
    }
    if (p.sparse)
      throw UserError(*p.sparse, fmt::format("the rows of '{}' are renewed by a training without phases alone", p.path),
                      "leave \"sparse\" out");
  }

  const Model& model_;
  std::map<std::string, size_t> owner_;  // by path
};

class Phases {
 public:
  Phases(Instance& e, const Model& model, const Losses& losses, const Shares& shares, std::optional<int64_t> steps)
      : e_(e), g_(e.graph), model_(model), losses_(losses), shares_(shares), steps_(steps), b_(g_), order_(g_.order) {
    for (const ir::Update& u : e.updates) current_[u.state] = u.state;
    for (size_t i = 0; i < e.uses.size(); ++i) use_making_[e.uses[i].next] = i;
    plan();
  }

  Losses run() {
    Losses seen = losses_;
    const ValueId step = e_.counter("step");
    std::optional<LossScaling> scaling;
    if (model_.train.loss_scale) scaling.emplace(e_, *model_.train.loss_scale);
    ir::Values gradients;
    size_t first = 0;
    for (size_t k = 0; k < phases().size(); ++k) {
      const TrainPhase& phase = phases()[k];
      b_.loc = phase.where;
      const ValueId runs = runs_in(step, phase);
      compute_again(k, runs);
      for (size_t end = first + phase.losses; first < end; ++first) seen.means[first] = now(losses_.means[first]);
      seen.phases[k] = now(losses_.phases[k]);
      ValueId loss = seen.phases[k];
      if (losses_.penalties.valid()) loss = b_("add", {loss, now(losses_.penalties)}, {}, phase.name + ".trained");
      const std::optional<int64_t> length =
          steps_ ? std::optional(std::max<int64_t>(1, *steps_ / phase.every)) : steps_;
      const size_t before = g_.updates.size();
      Player player{.optimizer = *phase.optimizer,
                    .clip_norm = phase.clip_norm,
                    .prefix = phase.name + ".",
                    .parameters = shares_.of[k],
                    .loss = scaling ? scaling->scaled(loss) : loss,
                    .total_steps = length,
                    .step = finished(step, phase),
                    .runs = runs};
      if (scaling) player.unscale = [&](ir::Values& scaled) { scaling->unscale(scaled, player.prefix, runs); };
      const ir::Values made = add_player(e_, model_, player);
      gradients.insert(gradients.end(), made.begin(), made.end());
      note_renewed(k, before);
    }
    if (scaling) scaling->end_phases();
    b_.loc = phases().front().where;
    keep_buffers();
    seen.norm = whole_norm(gradients);
    seen.total = total(seen);
    count_step(e_, phases().front().optimizer->op_where);
    return seen;
  }

 private:
  const std::vector<TrainPhase>& phases() const { return model_.train.phases; }

  ir::Values roots(size_t k) const {
    ir::Values all{losses_.phases[k]};
    if (losses_.penalties.valid()) all.push_back(losses_.penalties);
    return all;
  }

  // Which values each phase computes again, and which uses of layers renew their buffers then.
  void plan() {
    ValueSet changed_parameters;
    std::set<size_t> again;  // uses that some phase computes again
    const auto reads = [&](size_t use, const ValueSet& needed) {
      return std::ranges::any_of(e_.nodes[e_.uses[use].node].results, [&](ValueId v) { return needed.contains(v); });
    };
    ValueSet first_reads;
    for (size_t k = 0; k < phases().size(); ++k) {
      const ValueSet needed = cone(g_, roots(k));
      if (k == 0) first_reads = needed;
      const ValueSet changed = dependents(g_, order_, changed_parameters);
      Again plan{{}, needed, changed};
      for (size_t i = 0; i < e_.uses.size(); ++i) {
        const auto& results = e_.nodes[e_.uses[i].node].results;
        const bool renewed = std::ranges::any_of(results, [&](ValueId v) { return changed.contains(v); });
        if (renewed && reads(i, needed)) plan.uses.insert(i), again.insert(i);
      }
      again_.push_back(std::move(plan));
      for (const Parameter& p : shares_.of[k]) changed_parameters.insert(p.value);
    }
    // The forward pass in front of all phases renews by what the first one reads, and by what none computes again.
    for (size_t i = 0; i < e_.uses.size(); ++i)
      if (reads(i, first_reads) || !again.contains(i)) in_front_.insert(i);
  }

  struct Again {
    std::set<size_t> uses;
    ValueSet needed, changed;
  };

  // The value as the phase sees it.
  ValueId now(ValueId v) const {
    if (const auto it = made_.find(v); it != made_.end()) return it->second;
    if (const auto it = renewed_.find(v); it != renewed_.end()) return it->second;
    return v;
  }

  // What reads a buffer, or an earlier use's result for it, reads what the phase has made of the buffer so far.
  ValueId buffer_now(ValueId v) const {
    if (const auto it = made_.find(v); it != made_.end()) return it->second;
    if (const auto it = use_making_.find(v); it != use_making_.end()) return buffer_now(e_.uses[it->second].from);
    const auto it = current_.find(v);
    return it == current_.end() ? now(v) : it->second;
  }

  ValueId state_of(size_t use) const {
    const auto it = use_making_.find(e_.uses[use].from);
    return it == use_making_.end() ? e_.uses[use].from : state_of(it->second);
  }

  // Nodes of a layer that lead from the buffer to what its use makes of it.
  ValueSet chain(const std::set<size_t>& uses) const {
    ValueSet from, to;
    ir::Values next;
    for (const size_t i : uses) from.insert(e_.uses[i].from), next.push_back(e_.uses[i].next);
    const ValueSet forward = dependents(g_, order_, from);
    for (const ValueId v : cone(g_, next)) {
      if (!forward.contains(v) || !g_[v].def.valid()) continue;
      const auto inside = [&](size_t i) {
        const InstanceNode& node = e_.nodes[e_.uses[i].node];
        return g_[v].def.index >= node.begin && g_[v].def.index < node.end;
      };
      if (std::ranges::any_of(uses, inside)) to.insert(v);
    }
    return to;
  }

  void compute_again(size_t k, ValueId runs) {
    const std::set<size_t>& uses = k == 0 ? in_front_ : again_[k].uses;
    made_.clear();
    const ValueSet linked = chain(uses);
    // What follows a use that waits for a later phase starts, in front of all, from what was there before it.
    const bool links = k > 0 || uses.size() < e_.uses.size();
    ir::Values targets;
    for (const size_t i : uses) targets.push_back(e_.uses[i].next);
    const ValueSet of_uses = cone(g_, targets);
    for (const NodeId id : order_) {
      const ir::Node& n = g_[id];
      const auto counts = [&](ValueId v) {
        const bool needed = again_[k].needed.contains(v) || of_uses.contains(v);
        return needed && (again_[k].changed.contains(v) || (links && linked.contains(v)));
      };
      if (std::ranges::any_of(n.results, counts)) copy(id, phases()[k].name);
    }
    std::map<ValueId, ValueId> renewed;  // buffers
    for (const size_t i : uses) renewed[state_of(i)] = now(e_.uses[i].next);
    for (const auto& [state, next] : renewed)
      current_[state] = k == 0 ? next : if_runs(b_, runs, next, current_.at(state), g_[next].name);
  }

  void copy(NodeId id, const std::string& phase) {
    const ir::Node n = g_[id];
    ir::Values operands;
    std::vector<std::string> names;
    std::vector<ir::Type> types;
    for (const ValueId v : n.operands) operands.push_back(buffer_now(v));
    for (const ValueId v : n.results) names.push_back(g_[v].name + "." + phase), types.push_back(g_[v].type);
    require_known_indices(n, phase);
    const NodeId made = g_.add_node(*n.op, operands, n.attrs, names, types, n.loc);
    g_[made].callee = n.callee;
    for (size_t i = 0; i < n.results.size(); ++i) made_[n.results[i]] = g_[made].results[i];
  }

  // Whether computed indices are inside is asked of the forward pass.
  void require_known_indices(const ir::Node& n, const std::string& phase) const {
    if (!n.op->places || n.operands.size() < 2 || !made_.contains(n.operands[1])) return;
    throw UserError(n.loc,
                    fmt::format("the indices that this reads by are computed again in phase '{}', from "
                                "parameters that an earlier one has renewed: they cannot be checked",
                                phase),
                    "let the phase that reads by them come first");
  }

  // --- steps at which a phase runs: n, 2n, ... of those that are counted from 1 ---

  ValueId runs_in(ValueId step, const TrainPhase& phase) {
    return phase.every == 1 ? ValueId{} : is_nth(b_, step, phase.every, phase.name);
  }

  ValueId finished(ValueId step, const TrainPhase& phase) {
    if (phase.every == 1) return step;
    b_.prefix = phase.name + ".every";
    return b_("div", {step, b_.like(static_cast<double>(phase.every), step)}, {}, phase.name + ".step");
  }

  // No gradient passes through what an earlier phase has done.
  void note_renewed(size_t k, size_t before) {
    for (size_t i = before; i < g_.updates.size(); ++i) {
      const ir::Update u = g_.updates[i];
      if (std::ranges::count(shares_.of[k], u.state, &Parameter::value) > 0)
        renewed_[u.state] = b_("stop_gradient", {u.next}, {}, g_[u.state].name + ".renewed");
    }
  }

  void keep_buffers() {
    for (size_t i = 0; i < e_.updates.size(); ++i) e_.updates.set_next(i, current_.at(e_.updates[i].state));
  }

  // Of the gradients of all phases together.
  ValueId whole_norm(const ir::Values& gradients) {
    const bool clips = std::ranges::any_of(phases(), [](const TrainPhase& p) { return p.clip_norm.has_value(); });
    if (!clips && !model_.train.gradient_norm) return {};
    return norm_of(b_, gradients, std::string(ir::output_name(ir::OutputRole::norm)));
  }

  ValueId total(const Losses& seen) {
    const std::string name(ir::output_name(ir::OutputRole::loss));
    g_.rename(losses_.total, name + ".in_front");
    ValueId sum = losses_.penalties;
    for (const ValueId phase : seen.phases) sum = sum.valid() ? b_("add", {sum, phase}, {}, name + ".so_far") : phase;
    g_.rename(sum, name);
    return sum;
  }

  Instance& e_;
  ir::Graph& g_;
  const Model& model_;
  const Losses& losses_;
  const Shares& shares_;
  std::optional<int64_t> steps_;
  ir::Builder b_;
  const std::vector<NodeId> order_;  // of the forward pass and the losses
  std::vector<Again> again_;         // by phase
  std::set<size_t> in_front_;        // uses that renew their buffers in front of all phases
  std::map<ValueId, size_t> use_making_;
  std::map<ValueId, ValueId> made_;     // in this phase
  std::map<ValueId, ValueId> renewed_;  // parameters, behind earlier phases
  std::map<ValueId, ValueId> current_;  // buffers
};

}  // namespace

Losses add_phases(Instance& e, const Model& model, const Losses& losses, std::optional<int64_t> total_steps,
                  Diagnostics& errors) {
  Losses seen = losses;
  guarded(errors, [&] {
    if (!e.kept.empty())
      throw UserError(e.kept.front().where,
                      "a stateful layer cannot be trained by phases: it would go on twice in a step",
                      "leave \"stateful\" out");
    Diagnostics faults;
    const Shares shares(e, model, losses, faults);
    faults.throw_if_any();
    seen = Phases(e, model, losses, shares, total_steps).run();
  });
  return seen;
}

}  // namespace heddle::frontend
