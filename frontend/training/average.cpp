#include "frontend/training/average.h"

#include <algorithm>

#include "frontend/training/stored_parameters.h"

namespace heddle::frontend {

using ir::ValueId;

namespace {

ValueId add_state(ir::Graph& g, const Parameter& p) {
  return g.add_input(average_of(p.path), memory_type(p.type, p.layout), ir::Role::state, p.layout);
}

// Whether the average is still the parameter itself: up to the first step of the average.
ValueId is_early(ir::Builder& b, const Average& average, ValueId step) {
  const ValueId next = b("add", {step, b.like(1, step)}, {}, "average.count");
  return b("le", {next, b.like(static_cast<double>(average.start + 1), next)}, {}, "average.begins");
}

}  // namespace

std::string average_of(const std::string& path) { return path + ".average"; }

// Like torch.lerp: starts from the nearer value and adds a part of the difference. With rounding, kept and 1 - kept do
// not add up to 1, and 1 - kept of a rounded `kept` is inexact: an average with 0.99999 would forget 0.1 % faster.
ValueId moved_to(ir::Builder& b, ValueId old, ValueId next, double kept, const std::string& name) {
  const bool slow = kept >= 0.5;
  const ValueId from = slow ? old : next, to = slow ? next : old;
  const ValueId way = b("sub", {to, from}, {}, name + ".way");
  const ValueId part = b("mul", {way, b.like(slow ? 1 - kept : kept, way)}, {}, name + ".part");
  return b("add", {from, part}, {}, name + ".moved");
}

ir::Update add_average(
    Instance& e, const Average& average, const Parameter& p, ValueId next, ValueId step,
    const std::function<ValueId(const std::string& name, const std::function<ValueId()>& make)>& shared) {
  ir::Builder b(e.graph);
  b.loc = p.where;
  b.prefix = p.path + ".average.constant";
  const ir::Dims dims = b.type(next).dims;
  const ValueId begins = shared("average.begins", [&] { return is_early(b, average, step); });
  const ValueId early = dims.empty() ? begins : b("broadcast", {begins}, {{"shape", dims}}, p.path + ".average.begins");
  const ValueId old = add_state(e.graph, p);
  const ValueId moved = moved_to(b, old, next, average.decay, p.path + ".average");
  return {old, b("select", {early, next, moved}, {}, p.path + ".average.next")};
}

std::vector<Parameter> averaged(const Instance& training) {
  std::vector<Parameter> found;
  std::copy_if(training.parameters.begin(), training.parameters.end(), std::back_inserter(found),
               [&](const Parameter& p) { return training.graph.find(average_of(p.path)).valid(); });
  return found;
}

void read_averages(Instance& e, const std::vector<Parameter>& parameters) {
  for (const Parameter& p : parameters) {
    const auto own = std::find_if(e.parameters.begin(), e.parameters.end(),
                                  [&](const Parameter& other) { return other.path == p.path; });
    if (own != e.parameters.end()) e.graph.replace_uses(own->value, add_state(e.graph, p));
  }
}

ir::Graph take_average_graph(const Train& train, const std::vector<Parameter>& parameters) {
  ir::Graph g;
  g.name = ir::entry_name({ir::Phase::take_average});
  for (const Parameter& p : parameters) {
    const ValueId parameter = g.add_input(p.path, memory_type(p.type, p.layout), ir::Role::param, p.layout);
    const ValueId average = add_state(g, p);
    g.updates.push_back({parameter, average});
    if (is_stored(train, p) && train.stored->master) g.updates.push_back({master_state(g, p), average});
  }
  return g;
}

}  // namespace heddle::frontend
