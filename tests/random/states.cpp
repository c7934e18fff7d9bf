// Training and state in random graphs.
#include "tests/random/growing_graph.h"

namespace heddle::testing {
using namespace ir;
namespace {

Values inputs_with(const Graph& g, Role role) {
  Values list;
  for (const ValueId v : g.inputs)
    if (g[v].role == role) list.push_back(v);
  return list;
}

bool updated(const Graph& g, ValueId state) {
  for (const Update& u : g.updates)
    if (u.state == state) return true;
  return false;
}

ValueId loss(GrowingGraph& w) {
  ValueId total;
  for (const ValueId v : Values(w.values)) {
    if (!is_floating(w.type(v).dtype) || !w.g.def(v) || w.random.chance(50)) continue;
    const ValueId term = w.b("reduce_mean", {w.b("tanh", {w.b.cast(v, DType::f32)})});
    total = total.valid() ? w.b("add", {total, term}) : term;
  }
  return total;
}

void descend(GrowingGraph& w, ValueId weight, ValueId grad, bool momentum) {
  const auto scaled = [&](ValueId v, double factor) { return w.b("mul", {v, w.b.like(factor, v)}); };
  if (momentum) {
    const Type type = w.type(weight);
    const ValueId velocity = w.g.add_input(w.g[weight].name + ".velocity", type, Role::state);
    grad = w.b("add", {scaled(velocity, 0.9), grad});
    w.g.updates.push_back({velocity, grad});
  }
  w.g.updates.push_back({weight, w.b("sub", {weight, scaled(grad, 0.1)})});
}

}  // namespace

void add_training(GrowingGraph& w) {
  Values weights;
  for (const ValueId v : inputs_with(w.g, Role::param))
    if (is_floating(w.type(v).dtype)) weights.push_back(v);
  if (weights.empty()) return;
  const ValueId l = loss(w);
  if (!l.valid()) return;
  w.g.outputs.push_back(l);
  const bool momentum = w.random.chance(50);
  for (const ValueId weight : weights) {
    const ValueId grad = w.b("gradient", {l, weight}, {}, w.g[weight].name + ".grad");
    if (w.random.chance(25))
      w.g.outputs.push_back(grad);
    else
      descend(w, weight, grad, momentum);
  }
}

void add_updates(GrowingGraph& w) {
  Values states = inputs_with(w.g, Role::state);
  for (const ValueId v : inputs_with(w.g, Role::param)) states.push_back(v);
  for (const ValueId state : states) {
    if (updated(w.g, state) || !w.random.chance(60)) continue;
    Values same;  // computed values, the state itself, other states of its type
    for (const ValueId v : w.values)
      if (w.type(v) == w.type(state) && w.g[v].role != Role::input) same.push_back(v);
    const ValueId from = w.random.pick(same);
    ValueId next = w.random.chance(40) ? reread(w, from) : from;
    if (w.random.chance(40) && w.type(state).dtype != DType::boolean) next = w.b("max", {next, recent_like(w, state)});
    w.g.updates.push_back({state, next});
  }
}

}  // namespace heddle::testing
