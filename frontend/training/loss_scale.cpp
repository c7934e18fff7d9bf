#include "frontend/training/loss_scale.h"

#include <limits>

#include "frontend/training/sparse_update.h"
#include "frontend/training/train_step.h"
#include "ir/cursor.h"

namespace heddle::frontend {

using ir::ValueId;

namespace {

// No node can take these names: `step` is reserved.
constexpr const char* kScale = "step.loss_scale";
constexpr const char* kCleanSteps = "step.clean_steps";  // in a row, since the scale was renewed
constexpr const char* kIsClean = "step.is_clean";

constexpr double kLargest = std::numeric_limits<float>::max(), kLeast = std::numeric_limits<float>::min();

bool is_fixed(const LossScale& rule) { return rule.growth == 1 && rule.backoff == 1; }

// The constant, or the state, which is there once.
ValueId scale_of(ir::Builder& b, const LossScale& rule) {
  const ir::Type type{ir::DType::f32, {}};
  if (is_fixed(rule)) return b.constant(rule.initial, type);
  const ValueId known = b.graph.find(kScale);
  return known.valid() ? known : b.graph.add_input(kScale, type, ir::Role::state);
}

// As torch.amp.GradScaler.update. A scale that would be no f32 stays.
void renew_scale(ir::Builder& b, const LossScale& rule, ValueId scale, ValueId clean) {
  const ValueId count = b.graph.add_input(kCleanSteps, {ir::DType::i64, {}}, ir::Role::state);
  const ValueId one_more = b("add", {count, b.like(1, count)}, {}, "step.one_more");
  const ValueId due = b("ge", {one_more, b.like(static_cast<double>(rule.interval), count)}, {}, "step.grows");
  const ValueId grown = b("mul", {scale, b.like(rule.growth, scale)}, {}, "step.grown");
  const ValueId fits = b("le", {grown, b.like(kLargest, scale)}, {}, "step.grown_fits");
  const ValueId larger = b("select", {b("and", {due, fits}, {}, "step.may_grow"), grown, scale}, {}, "step.larger");
  const ValueId reduced = b("mul", {scale, b.like(rule.backoff, scale)}, {}, "step.reduced");
  const ValueId smaller = b("max", {reduced, b.like(kLeast, scale)}, {}, "step.smaller");
  b.graph.updates.push_back({scale, b("select", {clean, larger, smaller}, {}, "step.loss_scale.next")});
  const ValueId none = b.like(0, count);
  const ValueId going_on = b("select", {due, none, one_more}, {}, "step.going_on");
  b.graph.updates.push_back({count, b("select", {clean, going_on, none}, {}, "step.clean_steps.next")});
}

}  // namespace

LossScaling::LossScaling(Instance& e, const LossScale& rule) : e_(e), b_(e.graph) {
  b_.loc = rule.where;
  b_.prefix = "step.scale.constant";
  scale_ = scale_of(b_, rule);
}

ValueId LossScaling::scaled(ValueId loss) { return b_("mul", {loss, scale_}, {}, "loss.scaled"); }

ValueId scaled_loss(Instance& e, const Train& train, ValueId loss) {
  return train.loss_scale ? LossScaling(e, *train.loss_scale).scaled(loss) : loss;
}

// The inverse by f64, as PyTorch: of a power of two it is exact.
void LossScaling::unscale(ir::Values& gradients, const std::string& phase, ValueId runs) {
  const ValueId largest = b_("largest_magnitude", gradients, {}, phase + kLargestGradient);
  ValueId clean = b_("le", {largest, b_.like(kLargest, largest)}, {}, phase.empty() ? kIsClean : phase + "is_clean");
  if (runs.valid()) clean = b_("or", {clean, b_("not", {runs}, {}, phase + "rests")}, {}, phase + "is_clean_or_rests");
  clean_ = clean_.valid() ? b_("and", {clean_, clean}, {}, phase + "is_clean_so_far") : clean;
  const ValueId wide = b_.cast(scale_, ir::DType::f64);
  const ValueId inverse = b_.cast(b_("div", {b_.like(1, wide), wide}, {}, "step.inverse_f64"), ir::DType::f32);
  for (ValueId& g : gradients) {
    const std::string name = e_.graph[g].name;
    const ir::Dims dims = b_.type(g).dims;
    const ValueId spread = dims.empty() ? inverse : b_("broadcast", {inverse}, {{"shape", dims}}, name + ".inverse");
    g = b_("mul", {g, spread}, {}, name + ".unscaled");
  }
}

void LossScaling::end_phases() { e_.graph.rename(clean_, kIsClean); }

ValueId clean_step(const ir::Graph& g) { return g.find(kIsClean); }

void skip_overflows(Instance& e, const Model& model) {
  ir::Graph& g = e.graph;
  const ValueId clean = clean_step(g);
  if (!clean.valid()) return;
  const LossScale& rule = *model.train.loss_scale;
  ir::Builder b(g);
  b.loc = rule.where;
  b.prefix = "step.scale.constant";
  for (size_t i = 0; i < g.updates.size(); ++i) {
    const ir::Update u = g.updates[i];
    if (has_sparse_rows(e, u.state)) continue;  // its rows are written as they were: no select of the whole table
    g.updates.set_next(i, if_runs(b, clean, u.next, u.state, g[u.state].name));
  }
  const ValueId scale = scale_of(b, rule);
  if (!is_fixed(rule)) renew_scale(b, rule, scale, clean);
  const ValueId skipped = b("neg", {scale}, {}, "step.scale.skipped");
  g.outputs.push_back(b("select", {clean, scale, skipped}, {}, std::string(ir::kToldScale)));
}

double first_value(const Train& train, const std::string& state) {
  return train.loss_scale && state == kScale ? train.loss_scale->initial : 0;
}

}  // namespace heddle::frontend
