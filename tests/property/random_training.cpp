#include "tests/property/random_values.h"

namespace heddle::testing {
using namespace ir;
namespace {

ValueId loss(RandomValues& r) {
  ValueId total = r.b.constant(0, {DType::f32, {}});
  for (ValueId v : Values(r.values)) {
    if (r.type(v).dtype != DType::f32 || (!r.options.smooth && r.chance(60))) continue;
    total = r.b("add", {total, r.b("reduce_mean", {r.b("tanh", {v})})});
  }
  return r.b("mul", {total, r.b.like(0.5, total)}, {}, "loss");
}

ValueId scaled(RandomValues& r, ValueId v, double factor) { return r.b("mul", {v, r.b.like(factor, v)}); }

void update(RandomValues& r, ValueId w, ValueId grad, ValueId clip, bool momentum) {
  r.b.prefix = r.g[w].name;
  if (clip.valid()) grad = r.b("mul", {grad, r.b.broadcast_to(clip, Dims(r.type(w).dims))});
  if (r.type(w).rank() > 1) grad = r.b("add", {grad, scaled(r, w, 0.01)});
  if (momentum) {
    const ValueId m = r.g.add_input(r.g[w].name + ".m", Type(r.type(w)), Role::state);
    grad = r.b("add", {scaled(r, m, 0.9), grad}, {}, r.g[m].name + ".next");
    r.g.updates.push_back({m, grad});
  }
  r.g.updates.push_back({w, r.b("sub", {w, scaled(r, grad, 0.1)}, {}, r.g[w].name + ".next")});
  r.b.prefix.clear();
}

}  // namespace

void add_training(RandomValues& r) {
  ValueId l = loss(r);
  r.g.outputs.push_back(l);
  if (!r.options.smooth && r.chance(20) && !r.params.empty())  // a penalty on a gradient: second order
    l = r.b("add", {l, r.b("squared_norm", {r.b("gradient", {l, r.params[0]})})});
  Values grads;
  for (ValueId w : r.params) grads.push_back(r.b("gradient", {l, w}, {}, r.g[w].name + ".grad"));
  if (r.options.smooth) {
    r.g.outputs.insert(r.g.outputs.end(), grads.begin(), grads.end());
    return;
  }
  if (grads.empty()) return;
  ValueId clip;
  if (r.chance(50)) {
    const ValueId norm = r.b("sqrt", {r.b("squared_norm", grads)});
    clip = r.b("min", {r.b.like(1, norm), r.b("div", {r.b.like(1, norm), r.b("add", {norm, r.b.like(1e-6, norm)})})});
  }
  const bool momentum = r.chance(50);
  for (size_t i = 0; i < r.params.size(); ++i) update(r, r.params[i], grads[i], clip, momentum);
  const ValueId next = r.b("add", {r.step, r.b.like(1, r.step)});
  r.g.updates.push_back({r.step, next});
}

}  // namespace heddle::testing
