#include "frontend/instantiate/model_instances.h"

#include <algorithm>
#include <iterator>

namespace heddle::frontend {

ModelInstances::ModelInstances(const Model& model) : model_(model) {
  for (const Model& shorter : model.shorter) shorter_.push_back(std::make_unique<ModelInstances>(shorter));
}

void ModelInstances::clear() {
  made_.clear();
  for (const auto& shorter : shorter_) shorter->clear();
}

const Instance& ModelInstances::at(const InstanceOptions& options, Diagnostics& errors) {
  const auto known = made_.find(options);
  if (known != made_.end() && known->second.whole) return known->second.instance;
  Made made{instantiate_model(model_, options, errors), false};
  made.whole = errors.empty();
  return made_.insert_or_assign(options, std::move(made)).first->second.instance;
}

std::vector<ir::Graph> ModelInstances::bodies() const {
  std::vector<ir::Graph> all;
  for (const auto& [options, made] : made_)
    all.insert(all.end(), made.instance.bodies.begin(), made.instance.bodies.end());
  for (const auto& shorter : shorter_) {
    std::vector<ir::Graph> more = shorter->bodies();
    std::ranges::move(more, std::back_inserter(all));
  }
  return all;
}

const Instance* instance_of_twice(ModelInstances& instances, int64_t batch) {
  Diagnostics faults;
  try {
    const Instance& twice = instances.at({.batch = 2 * batch, .training = false}, faults);
    return faults.empty() ? &twice : nullptr;
  } catch (const UserError&) {
    return nullptr;
  }
}

namespace {

bool is_at_gradient(const std::vector<NodeDef>& nodes, const Location& where) {
  return std::ranges::any_of(nodes, [&](const NodeDef& n) { return n.op == "gradient" && n.op_where == where; });
}

}  // namespace

void require_gradients_of_two_rows(ModelInstances& instances, int64_t batch) {
  if (batch != 1) return;
  const Model& model = instances.model();
  Diagnostics of_gradients;
  try {
    Diagnostics faults;
    instances.at({.batch = 2, .training = false}, faults);
    faults.throw_if_any();
  } catch (const UserError& error) {
    for (const Diagnostic& d : error.diagnostics()) {
      const bool found = is_at_gradient(model.nodes, d.where) || std::ranges::any_of(model.blocks, [&](const auto& b) {
                           return is_at_gradient(b.second.nodes, d.where);
                         });
      if (d.severity == Severity::error && found) of_gradients.add(UserError(std::vector<Diagnostic>{d}));
    }
  }
  of_gradients.throw_if_any();
}

}  // namespace heddle::frontend
