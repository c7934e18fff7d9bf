#include "frontend/average.h"

#include <algorithm>

namespace heddle::frontend {

using ir::ValueId;

namespace {

ValueId add_state(ir::Graph& g, const Parameter& p) {
  return g.add_input(average_of(p.path), memory_type(p.type, p.layout), ir::Role::state, p.layout);
}

// The share of the old average: none in the first step that counts, and before.
ValueId kept_share(ir::Builder& b, const Average& average, ValueId step) {
  const ValueId next = b("add", {step, b.like(1, step)}, {}, "average.count");
  const ValueId early = b("le", {next, b.like(static_cast<double>(average.start + 1), next)}, {}, "average.begins");
  const ir::Type scalar{ir::DType::f32, {}};
  return b("select", {early, b.constant(0, scalar), b.constant(average.decay, scalar)}, {}, "average.kept");
}

}  // namespace

std::string average_of(const std::string& path) { return path + ".average"; }

void add_average(Expansion& e, const Average& average, const Parameter& p, ValueId next, ValueId step,
                 const std::function<ValueId(const std::string& name, const std::function<ValueId()>& make)>& shared) {
  ir::Builder b(e.graph);
  b.loc = p.where;
  const ValueId kept = shared("average.kept", [&] { return kept_share(b, average, step); });
  const ValueId fresh = shared("average.new", [&] { return b("sub", {b.like(1, kept), kept}, {}, "average.new"); });
  const ir::Dims dims = b.type(next).dims;
  const auto part = [&](ValueId v, ValueId share, const std::string& name) {
    const ValueId typed = b.cast(share, b.type(v).dtype);
    const ValueId spread =
        dims.empty() ? typed : b("broadcast", {typed}, {{"shape", dims}}, p.path + ".average." + name + "_share");
    return b("mul", {v, spread}, {}, p.path + ".average." + name);
  };
  const ValueId old = add_state(e.graph, p);
  e.graph.updates.push_back(
      {old, b("add", {part(old, kept, "kept"), part(next, fresh, "new")}, {}, p.path + ".average.next")});
}

std::vector<Parameter> averaged(const Expansion& training) {
  std::vector<Parameter> found;
  std::copy_if(training.parameters.begin(), training.parameters.end(), std::back_inserter(found),
               [&](const Parameter& p) { return training.graph.find(average_of(p.path)).valid(); });
  return found;
}

void read_averages(Expansion& e, const std::vector<Parameter>& parameters) {
  for (const Parameter& p : parameters) {
    const auto own = std::find_if(e.parameters.begin(), e.parameters.end(),
                                  [&](const Parameter& other) { return other.path == p.path; });
    if (own != e.parameters.end()) e.graph.replace_uses(own->value, add_state(e.graph, p));
  }
}

ir::Graph take_average_graph(const std::vector<Parameter>& parameters) {
  ir::Graph g;
  g.name = "take_average";
  for (const Parameter& p : parameters) {
    const ValueId parameter = g.add_input(p.path, memory_type(p.type, p.layout), ir::Role::param, p.layout);
    g.updates.push_back({parameter, add_state(g, p)});
  }
  return g;
}

}  // namespace heddle::frontend
