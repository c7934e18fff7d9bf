#include "frontend/layer_def.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "frontend/initializer.h"
#include "frontend/primitive_layer.h"
#include "frontend/training/training_def.h"
#include "frontend/training/weight_rules.h"
#include "ir/check.h"

namespace heddle::frontend {
namespace {

// One list of definitions by name, filled at start-up and frozen after.
template <class Def>
std::map<std::string, Def, std::less<>>& registry() {
  static std::map<std::string, Def, std::less<>> definitions;
  return definitions;
}

template <class Def>
void add(Def def) {
  const std::string name = def.name;
  HEDDLE_CHECK(registry<Def>().emplace(name, std::move(def)).second, fmt::format("{} is registered twice", name));
}

template <class Def>
const Def* find(std::string_view name) {
  const auto it = registry<Def>().find(name);
  return it == registry<Def>().end() ? nullptr : &it->second;
}

template <class Def>
std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const auto& [name, def] : registry<Def>()) out.push_back(name);
  return out;
}

// Operators of the IR that are nodes as they are. Made on first use: at start-up the order of registrations is open.
const std::map<std::string, LayerDef, std::less<>>& primitives() {
  static const std::map<std::string, LayerDef, std::less<>> all = [] {
    const std::set<std::string, std::less<>> others = {"pad", "reverse"};
    std::map<std::string, LayerDef, std::less<>> layers;
    for (const ir::OpDef* op : ir::all_ops()) {
      const bool usable = std::holds_alternative<ir::Elementwise>(op->kind) || others.count(op->name) != 0;
      if (usable && find<LayerDef>(op->name) == nullptr) layers.emplace(op->name, primitive_layer(*op));
    }
    return layers;
  }();
  return all;
}

}  // namespace

RegisterLayer::RegisterLayer(LayerDef def) { add(std::move(def)); }
RegisterInitializer::RegisterInitializer(InitializerDef def) { add(std::move(def)); }
RegisterMetric::RegisterMetric(MetricDef def) { add(std::move(def)); }
RegisterSchedule::RegisterSchedule(ScheduleDef def) { add(std::move(def)); }

RegisterRegularizer::RegisterRegularizer(RegularizerDef def) { add(std::move(def)); }

RegisterConstraint::RegisterConstraint(ConstraintDef def) {
  if (def.norms)
    def.settings.push_back({.name = "axis",
                            .type = KeyType::integer,
                            .count = Count::several,
                            .doc = "one axis or several, over which a norm adds up: all but the first"});
  add(std::move(def));
}

RegisterLoss::RegisterLoss(LossDef def) {
  def.settings.push_back({.name = "weight",
                          .type = KeyType::real,
                          .doc = "its share in the sum of the losses",
                          .fallback = 1.0,
                          .range = as_f32(ir::kAboveZero)});
  add(std::move(def));
}

RegisterOptimizer::RegisterOptimizer(OptimizerDef def) {
  def.settings.insert(def.settings.begin(), {{.name = "lr",
                                              .type = KeyType::part,
                                              .doc = "learning rate: a number or a schedule",
                                              .fallback = def.default_lr,
                                              .of = "schedule"},
                                             {.name = "weight_decay",
                                              .type = KeyType::real,
                                              .doc = "weight decay",
                                              .fallback = def.default_decay,
                                              .range = as_f32(ir::kNotNegative)},
                                             {.name = "decay",
                                              .type = KeyType::text,
                                              .doc = "what decays: all, or matrices (rank >= 2)",
                                              .fallback = std::string("all"),
                                              .words = {"all", "matrices"}}});
  add(std::move(def));
}

const LayerDef* find_layer(std::string_view name) {
  if (const LayerDef* layer = find<LayerDef>(name)) return layer;
  const auto it = primitives().find(name);
  return it == primitives().end() ? nullptr : &it->second;
}

std::vector<std::string> layer_names() {
  std::vector<std::string> out = names<LayerDef>();
  for (const auto& [name, layer] : primitives()) out.push_back(name);
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> activation_names() {
  std::vector<std::string> out;
  for (const std::string& name : layer_names()) {
    if (find_layer(name)->activation) out.push_back(name);
  }
  return out;
}

const InitializerDef* find_initializer(std::string_view name) { return find<InitializerDef>(name); }
const LossDef* find_loss(std::string_view name) { return find<LossDef>(name); }
const MetricDef* find_metric(std::string_view name) { return find<MetricDef>(name); }
const OptimizerDef* find_optimizer(std::string_view name) { return find<OptimizerDef>(name); }
const ScheduleDef* find_schedule(std::string_view name) { return find<ScheduleDef>(name); }
const RegularizerDef* find_regularizer(std::string_view name) { return find<RegularizerDef>(name); }
const ConstraintDef* find_constraint(std::string_view name) { return find<ConstraintDef>(name); }
std::vector<std::string> initializer_names() { return names<InitializerDef>(); }
std::vector<std::string> loss_names() { return names<LossDef>(); }
std::vector<std::string> metric_names() { return names<MetricDef>(); }
std::vector<std::string> optimizer_names() { return names<OptimizerDef>(); }
std::vector<std::string> schedule_names() { return names<ScheduleDef>(); }
std::vector<std::string> regularizer_names() { return names<RegularizerDef>(); }
std::vector<std::string> constraint_names() { return names<ConstraintDef>(); }

}  // namespace heddle::frontend
