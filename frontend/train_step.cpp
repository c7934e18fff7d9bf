#include "frontend/train_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "frontend/fields.h"
#include "frontend/learning_rate.h"
#include "frontend/training_def.h"

namespace heddle::frontend {

using ir::ValueId;

namespace {

// '*' any characters, '?' one. Greedy with one point to return to: linear in practice, never exponential.
bool glob(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::vector<bool> ancestors(const ir::Graph& g, ValueId of) {
  std::vector<bool> reached(g.value_count());
  reached[static_cast<size_t>(of.index)] = true;
  for (auto it = g.order.rbegin(); it != g.order.rend(); ++it) {
    const ir::Node& n = g[*it];
    const bool needed = std::any_of(n.results.begin(), n.results.end(),
                                    [&](ValueId v) { return reached[static_cast<size_t>(v.index)]; });
    if (!needed) continue;
    for (const ValueId v : n.operands) reached[static_cast<size_t>(v.index)] = true;
  }
  return reached;
}

// Parameters the loss depends on that are not frozen.
std::vector<Parameter> trainable(const Expansion& e, const Model& model, ValueId loss, Diagnostics& errors) {
  std::vector<std::string> paths;
  for (const Parameter& p : e.parameters)
    if (p.role == ir::Role::param) paths.push_back(p.path);
  for (const Named& pattern : model.train.freeze) {
    const bool used =
        std::any_of(paths.begin(), paths.end(), [&](const std::string& path) { return glob(pattern.text, path); });
    const bool buffer = std::any_of(e.parameters.begin(), e.parameters.end(),
                                    [&](const Parameter& p) { return glob(pattern.text, p.path); });
    if (!used)
      errors.error(pattern.where, fmt::format("{} freezes no parameter", quote(pattern.text)),
                   buffer ? "running statistics are not trained; they follow the data as long as the model trains"
                          : suggest(pattern.text, paths));
  }
  const std::vector<bool> reached = ancestors(e.graph, loss);
  std::vector<Parameter> out;
  for (const Parameter& p : e.parameters) {
    if (p.role != ir::Role::param) continue;
    const bool frozen = std::any_of(model.train.freeze.begin(), model.train.freeze.end(),
                                    [&](const Named& pattern) { return glob(pattern.text, p.path); });
    if (reached[static_cast<size_t>(p.value.index)] && !frozen) out.push_back(p);
  }
  return out;
}

// factor = min(1, limit / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_.
void clip(ir::Builder& b, ir::Values& gradients, double limit) {
  const ValueId squared = b("squared_norm", gradients, {}, "clip.squared_norm");
  const ValueId norm = b("sqrt", {squared}, {}, "clip.norm");
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

class Updates {
 public:
  Updates(Expansion& e, const Model& model, std::optional<int64_t> total_steps)
      : e_(e),
        model_(model),
        optimizer_(*model.train.optimizer),
        def_(*find_optimizer(optimizer_.op)),
        total_steps_(total_steps),
        b_(e.graph),
        settings_(optimizer_.settings, def_.settings, model.let, "optimizer " + optimizer_.op, optimizer_.op_where) {
    b_.loc = optimizer_.op_where;
    b_.prefix = "optimizer.constant";
  }

  void add(const std::vector<Parameter>& parameters, ValueId loss) {
    if (def_.check) def_.check(settings_);
    const std::vector<std::string> slot_names = def_.slots(settings_);
    const double decay = read_decay();
    ir::Values gradients;
    for (const Parameter& p : parameters) gradients.push_back(b_("gradient", {loss, p.value}, {}, p.path + ".grad"));
    if (model_.train.clip_norm && !gradients.empty()) clip(b_, gradients, *model_.train.clip_norm);
    step_ = e_.counter("step");
    lr_ = add_learning_rate(b_, settings_, step_, total_steps_);
    for (size_t i = 0; i < parameters.size(); ++i) {
      const bool decays = !optimizer_.decay_matrices || parameters[i].type.rank() >= 2;
      update(parameters[i], gradients[i], slot_names, decays ? decay : 0);
    }
    b_.prefix = "step.one";
    e_.graph.updates.push_back({step_, b_("add", {step_, b_.like(1, step_)}, {}, "step.next")});
  }

 private:
  double read_decay() const {
    const double decay = settings_.real("weight_decay");
    if (!(decay >= 0)) settings_.fail("weight_decay", fmt::format("'weight_decay' must not be negative, is {}", decay));
    return decay;
  }

  void update(const Parameter& p, ValueId gradient, const std::vector<std::string>& slot_names, double decay) {
    ir::Values slots;
    for (const std::string& name : slot_names)
      slots.push_back(e_.graph.add_input(p.path + "." + name, b_.type(p.value), ir::Role::state, p.layout));
    UpdateContext context{
        b_,
        settings_,
        p.value,
        gradient,
        slots,
        lr_,
        step_,
        decay,
        p.path,
        [this](const std::string& name, const std::function<ValueId()>& make) { return shared(name, make); },
        [this](const std::string& name, const std::function<ValueId(ValueId)>& next) { return kept(name, next); }};
    const UpdateResult next = def_.update(context);
    e_.graph.updates.push_back({p.value, next.parameter});
    for (size_t i = 0; i < slots.size(); ++i) e_.graph.updates.push_back({slots[i], next.slots.at(i)});
  }

  ValueId shared(const std::string& name, const std::function<ValueId()>& make) {
    const auto it = shared_.find(name);
    if (it != shared_.end()) return it->second;
    const std::string prefix = b_.prefix;
    b_.prefix = name + ".constant";
    const ValueId v = make();
    b_.prefix = prefix;
    return shared_[name] = v;
  }

  ValueId kept(const std::string& name, const std::function<ValueId(ValueId)>& next) {
    return shared(name + ".next", [&] {
      const ValueId old = e_.graph.add_input(name, {ir::DType::f64, {}}, ir::Role::state);
      const ValueId v = next(old);
      e_.graph.updates.push_back({old, v});
      return v;
    });
  }

  Expansion& e_;
  const Model& model_;
  const Optimizer& optimizer_;
  const OptimizerDef& def_;
  std::optional<int64_t> total_steps_;
  ir::Builder b_;
  Settings settings_;
  ValueId step_, lr_;
  std::map<std::string, ValueId> shared_;
};

}  // namespace

void add_updates(Expansion& e, const Model& model, ValueId loss, std::optional<int64_t> total_steps,
                 Diagnostics& errors) {
  guarded(errors, [&] {
    const std::vector<Parameter> parameters = trainable(e, model, loss, errors);
    if (parameters.empty())
      throw UserError(model.train.optimizer->op_where,
                      "there is nothing to train: the loss depends on no parameter that is not frozen");
    Updates(e, model, total_steps).add(parameters, loss);
  });
}

}  // namespace heddle::frontend
