// The loss and the metrics of one graph, and what they add up to.
#include <fmt/format.h>

#include <map>

#include "frontend/fields.h"
#include "frontend/train_step.h"
#include "frontend/training_def.h"

namespace heddle::frontend {

using ir::ValueId;

namespace {

// The part's operands; empty where one is faulty, which has been reported.
ir::Values operands(Expansion& e, const Part& part, size_t wanted, const std::string& title) {
  if (part.in.size() != wanted) {
    throw UserError(part.op_where, fmt::format("{} takes {} inputs, got {}", title, wanted, part.in.size()));
  }
  ir::Values values;
  for (const Reference& reference : part.in) {
    if (reference.literal) throw UserError(reference.where, fmt::format("{} does not take a number as input", title));
    const bool known = e.values.count(reference.name) != 0;
    const ValueId v = e.find(reference);
    if (!v.valid() && !known)
      throw UserError(reference.where, fmt::format("there is no parameter {}", quote(reference.name)));
    if (!v.valid()) return {};
    values.push_back(e.logical(v));
  }
  return values;
}

// The weights of a part's rows; invalid where it has none.
ValueId row_weights(Expansion& e, const Part& part, const std::string& title) {
  if (!part.weights) return {};
  const ValueId v = e.find(*part.weights);
  if (!v.valid())
    throw UserError(part.weights->where, fmt::format("there is no parameter {}", quote(part.weights->name)));
  const ir::Type& type = e.graph[v].type;
  if (type != ir::Type{ir::DType::f32, {e.batch}}) {
    throw UserError(part.weights->where,
                    fmt::format("{}: 'weights': expected f32[{}], found {}{}", title, e.batch_name,
                                ir::to_string(type.dtype), e.shape_text(type.dims)),
                    "a number for each row", {e.origin(v)});
  }
  return v;
}

// Runs `build` for a part over its operands, named `name`; an invalid value where an operand is faulty.
ValueId measure(Expansion& e, const Model& model, const Part& part, const std::vector<std::string>& inputs,
                const std::vector<SettingDef>& defs, const std::string& title, const std::string& name,
                const std::function<ValueId(MeasureContext&)>& build) {
  const ir::Values in = operands(e, part, inputs.size(), title);
  if (in.empty()) return {};
  const Settings settings(part.settings, defs, model.let, title, part.op_where);
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
                           for (const ValueId v : in) notes.push_back(e.origin(v));
                           throw UserError(part.op_where, fmt::format("{}: {}", title, message), help,
                                           std::move(notes));
                         },
                         [&](const ir::Dims& dims) { return e.shape_text(dims); }};
  return build(context);
}

ValueId named(Expansion& e, ValueId v, const std::string& name) {
  if (v.valid()) e.graph.rename(v, name);
  return v;
}

// The states that a metric is made of.
const ir::Type kTotal{ir::DType::f64, {}};
std::string total_of(const std::string& metric) { return metric + ".total"; }
std::string count_of(const std::string& metric) { return metric + ".counted"; }

// Adds the sums of a batch to states that live as long as an epoch or a split, in f64: ten million of them lose nothing.
class Totals {
 public:
  Totals(Expansion& e, const Location& where) : e_(e), b_(e.graph) { b_.loc = where; }

  // The sum that a mean stands for, in f64.
  ValueId times(const std::string& loss, ValueId mean, ValueId count) {
    return b_("mul", {wide(mean), wide(count)}, {}, loss + ".sum");
  }

  // Where nothing counts, `sum` may be 0 / 0 of nothing, and adds nothing.
  void add(const std::string& metric, ValueId sum, ValueId count) {
    b_.prefix = metric + ".zero";
    const ValueId nothing = b_("eq", {count, b_.like(0, count)}, {}, metric + ".nothing");
    b_.prefix = metric + ".wide_zero";
    const ValueId zero = b_.constant(0, kTotal);
    const ValueId counted = b_("select", {nothing, zero, wide(sum)}, {}, metric + ".sum_of_counted");
    update(total_of(metric), counted);
    update(count_of(metric), wide(count));
  }

 private:
  ValueId wide(ValueId v) {
    b_.prefix = e_.graph[v].name + ".wide";
    return b_.cast(v, kTotal.dtype);
  }
  void update(const std::string& name, ValueId more) {
    const ValueId state = e_.graph.add_input(name, kTotal, ir::Role::state);
    e_.graph.updates.push_back({state, b_("add", {state, more}, {}, name + ".next")});
  }

  Expansion& e_;
  ir::Builder b_;
};

// One of the losses.
struct LossPart {
  const Part& part;
  const LossDef& def;
  std::string name, title;
  double weight = 1;

  ValueId measured(Expansion& e, const Model& model, const std::function<ValueId(MeasureContext&)>& build) const {
    return measure(e, model, part, def.inputs, def.settings, title, name, build);
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

std::vector<LossPart> loss_parts(const Model& model) {
  std::vector<LossPart> parts;
  Counted names;
  for (const Part& part : model.train.losses) {
    const LossDef& def = *find_loss(part.op);
    const std::string title = "loss " + part.op;
    const double weight = Settings(part.settings, def.settings, model.let, title, part.op_where).real("weight");
    parts.push_back({part, def, names.name("loss_" + part.op), title, weight});
  }
  if (parts.size() == 1 && parts[0].weight == 1) parts[0].name = "loss";
  return parts;
}
bool is_sum(const std::vector<LossPart>& parts) { return !parts.empty() && parts[0].name != "loss"; }

// weight * mean, and 0 where nothing counts.
ValueId weighted(ir::Builder& b, const LossPart& part, ValueId mean, ValueId count) {
  b.loc = part.part.op_where;
  b.prefix = part.name + ".constant";
  const ValueId nothing = b("eq", {count, b.like(0, count)}, {}, part.name + ".is_nothing");
  const ValueId term = b("mul", {mean, b.like(part.weight, mean)}, {}, part.name + ".weighted");
  return b("select", {nothing, b.like(0, term), term}, {}, part.name + ".term");
}

struct Measured {
  std::string name, finish;
  Location where;
};

// The losses, and each metric.
std::vector<Measured> measured(const Model& model) {
  std::vector<Measured> all;
  for (const LossPart& loss : loss_parts(model)) all.push_back({loss.name, {}, loss.part.op_where});
  const std::vector<Metric> plan = plan_metrics(model);
  for (size_t i = 0; i < plan.size(); ++i) {
    const Part& part = model.train.metrics[i];
    all.push_back({plan[i].name, find_metric(part.op)->finish, part.op_where});
  }
  return all;
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
  for (const Part& part : model.train.metrics)
    metrics.push_back({names.name(part.op), find_metric(part.op)->higher_is_better});
  return metrics;
}

Losses add_losses(Expansion& e, const Model& model, Diagnostics& errors) {
  Losses losses;
  const std::vector<LossPart> parts = loss_parts(model);
  ir::Builder b(e.graph);
  bool complete = true;
  for (const LossPart& part : parts) {
    ValueId mean;
    guarded(errors, [&] { mean = named(e, part.measured(e, model, part.def.mean), part.name); });
    losses.means.push_back(mean);
    complete &= mean.valid();
    if (!complete) continue;
    const ValueId term = is_sum(parts) ? weighted(b, part, mean, part.measured(e, model, part.def.count)) : mean;
    losses.total = losses.total.valid() ? b("add", {losses.total, term}, {}, "loss.so_far") : term;
  }
  losses.total = complete ? named(e, losses.total, "loss") : ValueId{};
  return losses;
}

ValueId add_totals(Expansion& e, const Model& model, const Losses& losses, Diagnostics& errors) {
  const std::vector<LossPart> parts = loss_parts(model);
  ValueId all_counted;
  ir::Builder b(e.graph);
  for (size_t i = 0; i < parts.size(); ++i) {
    const LossPart& part = parts[i];
    const ValueId counted = named(e, part.measured(e, model, part.def.count), part.name + ".count");
    Totals totals(e, part.part.op_where);
    totals.add(part.name, totals.times(part.name, losses.means[i], counted), counted);
    all_counted = i == 0 ? counted : b("add", {all_counted, counted}, {}, "loss.count_so_far");
  }
  if (parts.size() > 1) named(e, all_counted, "loss.count");
  const std::vector<Metric> plan = plan_metrics(model);
  for (size_t i = 0; i < plan.size(); ++i) {
    guarded(errors, [&] {
      const Part& metric = model.train.metrics[i];
      const MetricDef& what = *find_metric(metric.op);
      const auto total = [&](const std::string& name, const std::function<ValueId(MeasureContext&)>& build) {
        return named(e,
                     measure(e, model, metric, what.inputs, what.settings, "metric " + metric.op, plan[i].name, build),
                     plan[i].name + name);
      };
      const ValueId sum = total(".sum", what.numerator);
      if (sum.valid()) Totals(e, metric.op_where).add(plan[i].name, sum, total(".count", what.denominator));
    });
  }
  return all_counted;
}

ir::Graph reset_graph(const Model& model) {
  ir::Graph g;
  g.name = "reset";
  ir::Builder b(g);
  for (const Measured& m : measured(model)) {
    b.loc = m.where;
    for (const std::string& name : {total_of(m.name), count_of(m.name)}) {
      b.prefix = name + ".zero";
      const ValueId state = g.add_input(name, kTotal, ir::Role::state);
      g.updates.push_back({state, b.constant(0, kTotal)});
    }
  }
  return g;
}

namespace {

// The first result of @metrics, where it is the sum of the losses behind it.
void add_sum(ir::Builder& b, const std::vector<LossPart>& parts) {
  ValueId sum;
  for (size_t i = 0; i < parts.size(); ++i) {
    const ValueId term = weighted(b, parts[i], b.graph.outputs[i], b.graph.find(count_of(parts[i].name)));
    sum = i == 0 ? term : b("add", {sum, term}, {}, "loss.so_far");
  }
  b.graph.rename(sum, "loss");
  b.graph.outputs.insert(b.graph.outputs.begin(), sum);
}

}  // namespace

ir::Graph metrics_graph(const Model& model) {
  ir::Graph g;
  g.name = "metrics";
  ir::Builder b(g);
  for (const Measured& m : measured(model)) {
    b.loc = m.where;
    const ValueId total = g.add_input(total_of(m.name), kTotal, ir::Role::state);
    const ValueId count = g.add_input(count_of(m.name), kTotal, ir::Role::state);
    if (m.finish.empty()) {
      g.outputs.push_back(b("div", {total, count}, {}, m.name));
    } else {
      g.outputs.push_back(b(m.finish, {b("div", {total, count}, {}, m.name + ".ratio")}, {}, m.name));
    }
  }
  const std::vector<LossPart> parts = loss_parts(model);
  if (is_sum(parts)) add_sum(b, parts);
  return g;
}

}  // namespace heddle::frontend
