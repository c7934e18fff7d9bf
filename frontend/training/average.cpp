#include "frontend/training/average.h"

#include <algorithm>

namespace heddle::frontend {

using ir::ValueId;

namespace {

ValueId add_state(ir::Graph& g, const Parameter& p) {
  return g.add_input(average_of(p.path), memory_type(p.type, p.layout), ir::Role::state, p.layout);
}

// Whether the average is the parameter itself: in the first step that counts, and before.
ValueId is_early(ir::Builder& b, const Average& average, ValueId step) {
  const ValueId next = b("add", {step, b.like(1, step)}, {}, "average.count");
  return b("le", {next, b.like(static_cast<double>(average.start + 1), next)}, {}, "average.begins");
}

}  // namespace

std::string average_of(const std::string& path) { return path + ".average"; }

ir::Update add_average(
    Instance& e, const Average& average, const Parameter& p, ValueId next, ValueId step,
    const std::function<ValueId(const std::string& name, const std::function<ValueId()>& make)>& shared) {
  ir::Builder b(e.graph);
  b.loc = p.where;
  b.prefix = p.path + ".average.constant";
  const ir::Dims dims = b.type(next).dims;
  const auto emit = [&](const char* op, const ir::Values& operands, const std::string& name) {
    return b(op, operands, {}, p.path + ".average." + name);
  };
  const ValueId begins = shared("average.begins", [&] { return is_early(b, average, step); });
  const ValueId early = dims.empty() ? begins : b("broadcast", {begins}, {{"shape", dims}}, p.path + ".average.begins");
  // From the nearer of the two a part of the way to the other. The sum of decay and 1 - decay is not 1 where both are
  // rounded, and 1 - decay of a rounded decay is another number: 0.99999 would forget 0.1 % faster.
  const ValueId old = add_state(e.graph, p);
  const bool slow = average.decay >= 0.5;
  const ValueId from = slow ? old : next, to = slow ? next : old;
  const ValueId way = emit("sub", {to, from}, "way");
  const ValueId part = emit("mul", {way, b.like(slow ? 1 - average.decay : average.decay, way)}, "part");
  const ValueId moved = emit("add", {from, part}, "moved");
  return {old, emit("select", {early, next, moved}, "next")};
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

ir::Graph take_average_graph(const std::vector<Parameter>& parameters) {
  ir::Graph g;
  g.name = ir::entry_name({ir::Phase::take_average});
  for (const Parameter& p : parameters) {
    const ValueId parameter = g.add_input(p.path, memory_type(p.type, p.layout), ir::Role::param, p.layout);
    g.updates.push_back({parameter, add_state(g, p)});
  }
  return g;
}

}  // namespace heddle::frontend
