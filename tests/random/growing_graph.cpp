#include "tests/random/growing_graph.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::testing {
using namespace ir;

GrowingGraph::GrowingGraph(const std::string& name, uint64_t seed) : random(seed), b(g) { g.name = name; }

ValueId GrowingGraph::recent() {
  const auto count = static_cast<int64_t>(values.size());
  const int64_t back = random.chance(60) ? random.below(std::min<int64_t>(4, count)) : random.below(count);
  return values[static_cast<size_t>(count - 1 - back)];
}

ValueId GrowingGraph::new_input(const Type& t, const std::string& style) {
  const Role role = random.chance(60) ? Role::input : random.chance(50) ? Role::param : Role::state;
  // States belong to the module, inputs to their graph.
  const std::string name =
      role == Role::input ? fmt::format("x{}.{}", inputs++, style) : fmt::format("{}_s{}.{}", g.name, inputs++, style);
  values.push_back(g.add_input(name, t, role));
  return values.back();
}

Values GrowingGraph::add(const Instance& i, const Values& operands) {
  Values results = b.multi(i.op->name, operands, i.attrs);
  values.insert(values.end(), results.begin(), results.end());
  return results;
}

Values GrowingGraph::add_reading(const Instance& i, ValueId given) {
  Values operands;
  for (size_t k = 0; k < i.operands.size(); ++k)
    operands.push_back(k == i.given && given.valid() ? given : choose_operand(*this, i, k));
  return add(i, operands);
}

namespace {

std::string style_for(GrowingGraph& w, const Instance& i, size_t operand) {
  Random& r = w.random;
  if (i.below[operand] > 0) return fmt::format("below{}", i.below[operand]);
  if (r.chance(w.special_percent)) return "special";
  if (i.positive && r.chance(80)) return "positive";
  static const std::vector<std::string> styles = {"plain", "plain", "plain", "whole", "wide", "positive"};
  return r.pick(styles);
}

// Integers that an operator restricts, like labels, are made to fit.
ValueId fitted(GrowingGraph& w, ValueId v, int64_t below) {
  if (below == 0) return v;
  return w.b("clamp", {v}, {{"low", 0.0}, {"high", static_cast<double>(below - 1)}});
}

}  // namespace

ValueId choose_operand(GrowingGraph& w, const Instance& i, size_t operand) {
  const Type t = i.operands[operand];
  Values same, alike;
  for (const ValueId v : w.values) {
    if (w.type(v) == t) same.push_back(v);
    if (w.type(v).dtype == t.dtype) alike.push_back(v);
  }
  ValueId chosen;
  if (!same.empty() && w.random.chance(55))
    chosen = w.random.pick(same);
  else if (!alike.empty() && w.random.chance(30))
    chosen = adapt(w, w.random.pick(alike), t.dims);
  else
    return w.new_input(t, style_for(w, i, operand));
  if (w.random.chance(35)) chosen = reread(w, chosen);
  return fitted(w, chosen, i.below[operand]);
}

}  // namespace heddle::testing
