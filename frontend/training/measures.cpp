// The loss and the metrics of one graph, and the totals that they update.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>

#include "frontend/instantiate/mixed.h"
#include "frontend/instantiate/run_loop.h"
#include "frontend/keys/fields.h"
#include "frontend/metrics/decode.h"
#include "frontend/training/measure_parts.h"
#include "frontend/training/train_step.h"
#include "frontend/training/training_def.h"
#include "frontend/training/weight_rules.h"

namespace heddle::frontend {

using ir::ValueId;

namespace {

// "2", or "2 to 4".
std::string how_many(size_t least, size_t most) {
  return least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
}

// The metrics that a step computes: all except those of generated texts.
std::vector<const Part*> measured(const Train& train) {
  std::vector<const Part*> parts;
  for (const Part& part : train.metrics)
    if (!generates(part)) parts.push_back(&part);
  return parts;
}

// The operands of a part, in f32 even if the network has 16 bits. Empty if an operand is faulty, which is already
// reported.
template <class Def>
ir::Values operands(Instance& e, const Model& model, const Part& part, const Def& def, const std::string& title) {
  const size_t least = def.inputs.size(), most = least + def.optional.size();
  if (part.in.size() < least || part.in.size() > most) {
    std::string ports = fmt::format("{}", fmt::join(def.inputs, ", "));
    for (const std::string& port : def.optional) ports += fmt::format(", [{}]", port);
    throw UserError(part.op_where,
                    fmt::format("{} takes {} inputs, got {}", title, how_many(least, most), part.in.size()),
                    fmt::format("they are {}", ports));
  }
  ir::Values values;
  for (const Reference& reference : part.in) {
    if (reference.left_out()) {
      values.emplace_back();
      continue;
    }
    if (reference.literal) throw UserError(reference.where, fmt::format("{} does not take a number as input", title));
    const bool known = e.values.count(reference.name) != 0;
    const ValueId v = e.find(reference);
    if (!v.valid() && !known) throw e.no_parameter(reference);
    if (!v.valid()) return {};
    values.push_back(fixed_in_f32(e, model, e.logical(v)));
  }
  return values;
}

// The row weights of a part; invalid if it has none.
ValueId row_weights(Instance& e, const Part& part, const std::string& title) {
  if (!part.weights) return {};
  const ValueId v = e.find(*part.weights);
  if (!v.valid()) throw e.no_parameter(*part.weights);
  const ir::Type& type = e.graph[v].type;
  if (type != ir::Type{ir::DType::f32, {e.batch}}) {
    throw UserError(part.weights->where,
                    fmt::format("{}: 'weights': expected f32[{}], found {}{}", title, e.batch_name,
                                ir::to_string(type.dtype), e.shape_text(type.dims)),
                    "a number for each row", {e.origin(v)});
  }
  return v;
}

// Whether all losses and metrics that read this value can compute a few of its classes at a time.
bool may_chunk(const Model& model, const Reference& logits) {
  const auto reads = [&](const Part& part) {
    return std::ranges::any_of(part.in, [&](const Reference& in) { return in.name == logits.name; });
  };
  const auto chunks = [](const Part& part, bool first_alone) {
    return first_alone && std::ranges::count(part.in, part.in[0].name, &Reference::name) == 1;
  };
  return std::ranges::all_of(model.train.losses,
                             [&](const Part& p) { return !reads(p) || chunks(p, find_loss(p.op)->chunks); }) &&
         std::ranges::all_of(measured(model.train),
                             [&](const Part* p) { return !reads(*p) || chunks(*p, find_metric(p->op)->chunks); });
}

// Calls `build` with the context of a part, unless an operand is faulty. `name` is the prefix of value names.
template <class Def>
void with_context(Instance& e, const Model& model, const Part& part, const Def& def, const std::string& title,
                  const std::string& name, const std::function<void(MeasureContext&)>& build) {
  const ir::Values in = operands(e, model, part, def, title);
  if (in.empty()) return;
  const Settings settings(part.settings, def.settings, model.let, title, part.op_where);
  ir::Builder b(e.graph);
  b.loc = part.op_where;
  MeasureContext context{b,
                         settings,
                         in,
                         row_weights(e, part, title),
                         e.batch,
                         name,
                         [&](const std::string& message, const std::string& help) {
                           std::vector<Diagnostic> notes;
                           for (const ValueId v : in)
                             if (v.valid()) notes.push_back(e.origin(v));
                           throw UserError(part.op_where, fmt::format("{}: {}", title, message), help,
                                           std::move(notes));
                         },
                         [&](const ir::Dims& dims) { return e.shape_text(dims); },
                         [&](const LoopSpec& loop) { return run_loop(e, loop, title, part.op_where); },
                         may_chunk(model, part.in[0]) ? e.most_logit_bytes : std::numeric_limits<int64_t>::max()};
  build(context);
}

ValueId named(Instance& e, ValueId v, const std::string& name) {
  if (v.valid()) e.graph.rename(v, name);
  return v;
}

// A loss is a ratio of two totals, as most metrics are.
const std::vector<MetricState> kTotals = {{"total"}, {"counted"}};

// The states of one loss or metric in a graph.
ir::Values add_states(ir::Graph& g, const MeasureStates& m) {
  ir::Values states;
  for (const MetricState& state : m.states)
    states.push_back(g.add_input(m.name + "." + state.name, {ir::DType::f64, state.dims}, ir::Role::state));
  return states;
}

void renew(ir::Graph& g, const ir::Values& states, const ir::Values& next) {
  for (size_t i = 0; i < states.size(); ++i) g.updates.push_back({states[i], next.at(i)});
}

// A term of %loss: one of the losses, or the penalty that one of train.regularize adds.
struct LossPart {
  const Part& part;
  const LossDef* def;         // nullptr for a penalty
  const WeightRule* penalty;  // nullptr for a loss
  std::string name, title;
  double weight = 1;
  size_t phase = 0;  // the phase of a loss, if the training has phases

  bool is_among(Terms terms) const {
    return terms == Terms::all || (terms == Terms::of_weights) == (penalty != nullptr);
  }

  ValueId mean(Instance& e, const Model& model, Diagnostics& errors) const {
    return penalty == nullptr ? measured(e, model, def->mean) : add_penalty(e, model, *penalty, name, errors);
  }

  // The count of the loss in the batch. For a penalty it is the number of rows, its weight in the mean over a split.
  ValueId count(Instance& e, const Model& model) const {
    if (penalty == nullptr) return measured(e, model, def->count);
    ir::Builder b(e.graph);
    b.loc = part.op_where;
    b.prefix = name + ".rows";
    return b.constant(static_cast<double>(e.batch), {ir::DType::f32, {}});
  }

 private:
  ValueId measured(Instance& e, const Model& model, const std::function<ValueId(MeasureContext&)>& build) const {
    ValueId v;
    with_context(e, model, part, *def, title, name, [&](MeasureContext& c) { v = build(c); });
    return v;
  }
};

// A second part of a kind is called "mse_2".
class Counted {
 public:
  std::string name(const std::string& kind) {
    const int count = ++seen_[kind];
    return count == 1 ? kind : fmt::format("{}_{}", kind, count);
  }

 private:
  std::map<std::string, int> seen_;
};

const std::string kLoss(ir::output_name(ir::OutputRole::loss));

// Names the losses of phases: "loss_critic", or "loss_critic_mse" if the phase has several.
void name_by_phase(const Train& train, std::vector<LossPart>& parts) {
  Counted names;
  size_t first = 0;
  for (size_t phase = 0; phase < train.phases.size(); ++phase) {
    const size_t end = std::min(parts.size(), first + train.phases[phase].losses);
    const std::string name = "loss_" + train.phases[phase].name;
    for (size_t i = first; i < end; ++i) {
      parts[i].name = names.name(end - first == 1 ? name : fmt::format("{}_{}", name, parts[i].part.op));
      parts[i].phase = phase;
    }
    first = end;
  }
}

std::vector<LossPart> loss_parts(const Model& model) {
  std::vector<LossPart> parts;
  Counted names;
  for (const Part& part : model.train.losses) {
    const LossDef& def = *find_loss(part.op);
    const std::string title = "loss " + part.op;
    const double weight = Settings(part.settings, def.settings, model.let, title, part.op_where).real("weight");
    parts.push_back({part, &def, nullptr, names.name("loss_" + part.op), title, weight});
  }
  name_by_phase(model.train, parts);
  if (parts.empty()) return parts;
  for (const WeightRule& rule : model.train.regularize)
    parts.push_back({rule, nullptr, &rule, names.name("penalty_" + rule.op), "regularizer " + rule.op});
  if (model.train.phases.empty() && parts.size() == 1 && parts[0].weight == 1) parts[0].name = kLoss;
  return parts;
}
bool is_sum(const std::vector<LossPart>& parts) { return !parts.empty() && parts[0].name != kLoss; }

// weight * mean, or 0 if the count is 0.
ValueId weighted(ir::Builder& b, const LossPart& part, ValueId mean, ValueId count) {
  b.loc = part.part.op_where;
  b.prefix = part.name + ".constant";
  const ValueId nothing = b("eq", {count, b.like(0, count)}, {}, part.name + ".is_nothing");
  const ValueId term = b("mul", {mean, b.like(part.weight, mean)}, {}, part.name + ".weighted");
  return b("select", {nothing, b.like(0, term), term}, {}, part.name + ".term");
}

// The term of a micro-batch: its mean, multiplied by its share in the step.
ValueId shared(ir::Builder& b, const LossPart& part, ValueId term, ValueId count, const Share& share, bool plain) {
  const ir::DType dtype = b.type(term).dtype;
  b.prefix = part.name + ".constant";
  const ValueId of_step = b("mul", {term, b.cast(share.part, dtype)}, {}, part.name + ".of_step");
  if (!share.of_nothing.valid()) return of_step;
  const ValueId nothing = b("eq", {count, b.like(0, count)}, {}, part.name + ".is_nothing");
  const ValueId other = plain ? b.cast(share.of_nothing, dtype) : b.like(0, of_step);
  return b("select", {nothing, other, of_step}, {}, part.name + ".or_nothing");
}

}  // namespace

std::vector<Metric> plan_losses(const Model& model) {
  const std::vector<LossPart> parts = loss_parts(model);
  std::vector<Metric> losses;
  for (const LossPart& part : parts)
    if (is_sum(parts)) losses.push_back({part.name});
  return losses;
}

std::vector<Metric> plan_metrics(const Model& model) {
  std::vector<Metric> metrics;
  Counted names;
  for (const Part* part : measured(model.train))
    metrics.push_back({names.name(part->op), find_metric(part->op)->higher_is_better});
  return metrics;
}

Losses add_losses(Instance& e, const Model& model, Diagnostics& errors, Terms terms, const MakeShare& share) {
  Losses losses;
  const std::vector<LossPart> parts = loss_parts(model);
  ir::Builder b(e.graph);
  bool complete = true;
  losses.phases.resize(model.train.phases.size());
  const auto grow = [&](ValueId& sum, ValueId term) {
    sum = sum.valid() ? b("add", {sum, term}, {}, "loss.so_far") : term;
  };
  for (const LossPart& part : parts) {
    ValueId mean;
    if (!part.is_among(terms)) {
      losses.means.emplace_back();
      continue;
    }
    guarded(errors, [&] { mean = named(e, part.mean(e, model, errors), part.name); });
    losses.means.push_back(mean);
    complete &= mean.valid();
    if (!complete) continue;
    const bool plain = !is_sum(parts) || part.penalty != nullptr;
    b.loc = part.part.op_where;
    const bool shares = share && part.penalty == nullptr;
    const ValueId count = plain && !shares ? ValueId{} : part.count(e, model);
    ValueId term = plain ? mean : weighted(b, part, mean, count);
    if (shares) term = shared(b, part, term, count, share(b, part.name, count), plain);
    grow(losses.total, term);
    if (!losses.phases.empty()) grow(part.penalty == nullptr ? losses.phases[part.phase] : losses.penalties, term);
  }
  losses.total = complete ? named(e, losses.total, kLoss) : ValueId{};
  return losses;
}

namespace {

// Adds the totals of a loss, to which a batch adds mean * count and count.
MeasureStates add_loss_totals(Instance& e, const LossPart& part, ValueId mean, ValueId count) {
  MeasureStates m{part.name, part.part.op_where, kTotals};
  ir::Builder b(e.graph);
  b.loc = m.where;
  const ValueId sum = b("mul", {wide(b, mean), wide(b, count)}, {}, part.name + ".sum");
  const ir::Values states = add_states(e.graph, m);
  renew(e.graph, states, with_counted(b, part.name, states, sum, count));
  return m;
}

MeasureStates add_metric(Instance& e, const Model& model, const Part& part, const std::string& name) {
  const MetricDef& def = *find_metric(part.op);
  MeasureStates m{name, part.op_where, {}};
  with_context(e, model, part, def, "metric " + part.op, name, [&](MeasureContext& c) {
    m.states = def.states(c);
    const ir::Values states = add_states(e.graph, m);
    renew(e.graph, states, def.next(c, states));
  });
  return m;
}

}  // namespace

Totals add_totals(Instance& e, const Model& model, const Losses& losses, Diagnostics& errors, Terms terms) {
  Totals totals;
  const std::vector<LossPart> parts = loss_parts(model);
  ir::Builder b(e.graph);
  for (size_t i = 0; i < parts.size(); ++i) {
    const LossPart& part = parts[i];
    if (!part.is_among(terms)) continue;
    const ValueId counted = named(e, part.count(e, model), part.name + ".count");
    totals.measures.push_back(add_loss_totals(e, part, losses.means[i], counted));
    if (part.penalty != nullptr) continue;
    totals.counted = i == 0 ? counted : b("add", {totals.counted, counted}, {}, "loss.count_so_far");
  }
  if (parts.size() > 1) named(e, totals.counted, std::string(ir::output_name(ir::OutputRole::count)));
  const std::vector<Metric> plan = terms == Terms::of_weights ? std::vector<Metric>{} : plan_metrics(model);
  const std::vector<const Part*> metrics = measured(model.train);
  for (size_t i = 0; i < plan.size(); ++i)
    guarded(errors, [&] { totals.measures.push_back(add_metric(e, model, *metrics[i], plan[i].name)); });
  return totals;
}

ir::Graph reset_graph(const std::vector<MeasureStates>& measures) {
  ir::Graph g;
  g.name = ir::entry_name({ir::Phase::reset});
  ir::Builder b(g);
  for (const MeasureStates& m : measures) {
    b.loc = m.where;
    for (const ValueId state : add_states(g, m)) {
      b.prefix = g[state].name + ".zero";
      g.updates.push_back({state, b.like(0, state)});
    }
  }
  return g;
}

namespace {

// Adds the first result of @metrics if it is the sum of the losses behind it. If no loss has counted anything, as in an
// epoch whose steps were all skipped, each of them is nan, and so is the sum.
void add_sum(ir::Builder& b, const std::vector<LossPart>& parts) {
  ValueId sum, counted;
  for (size_t i = 0; i < parts.size(); ++i) {
    const ValueId count = b.graph.find(parts[i].name + ".counted");
    const ValueId term = weighted(b, parts[i], b.graph.outputs[i], count);
    sum = i == 0 ? term : b("add", {sum, term}, {}, "loss.so_far");
    counted = i == 0 ? count : b("add", {counted, count}, {}, "loss.counted_so_far");
  }
  b.prefix = std::string(kLoss) + ".constant";
  const ValueId nothing = b("eq", {counted, b.like(0, counted)}, {}, "loss.is_nothing");
  sum = b("select", {nothing, b.graph.outputs[0], sum}, {}, "loss.or_nothing");
  b.graph.rename(sum, kLoss);
  b.graph.outputs.insert(b.graph.outputs.begin(), sum);
}

ValueId finished(ir::Builder& b, const Model& model, const Part& part, const std::string& name,
                 const ir::Values& states) {
  const MetricDef& def = *find_metric(part.op);
  const Settings settings(part.settings, def.settings, model.let, "metric " + part.op, part.op_where);
  MeasureContext context{b, settings, states, {}, 0, name, {}, {}};
  return def.finish(context);
}

}  // namespace

ir::Graph metrics_graph(const Model& model, const std::vector<MeasureStates>& measures) {
  ir::Graph g;
  g.name = ir::entry_name({ir::Phase::metrics});
  ir::Builder b(g);
  const std::vector<LossPart> parts = loss_parts(model);
  const std::vector<const Part*> metrics = measured(model.train);
  for (size_t i = 0; i < measures.size(); ++i) {
    const MeasureStates& m = measures[i];
    b.loc = m.where;
    const ir::Values states = add_states(g, m);
    const bool is_loss = i < parts.size();
    const ValueId v =
        is_loss ? b("div", states, {}, m.name) : finished(b, model, *metrics[i - parts.size()], m.name, states);
    g.rename(v, m.name);
    g.outputs.push_back(v);
  }
  if (is_sum(parts)) add_sum(b, parts);
  return g;
}

}  // namespace heddle::frontend
