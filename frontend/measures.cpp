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
  ValueId times(ValueId mean, ValueId count) { return b_("mul", {wide(mean), wide(count)}, {}, "loss.sum"); }

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

struct Measured {
  std::string name, finish;
  Location where;
};

// The loss, and each metric.
std::vector<Measured> measured(const Model& model) {
  std::vector<Measured> all = {{"loss", {}, model.train.loss->op_where}};
  const std::vector<Metric> plan = plan_metrics(model);
  for (size_t i = 0; i < plan.size(); ++i) {
    const Part& part = model.train.metrics[i];
    all.push_back({plan[i].name, find_metric(part.op)->finish, part.op_where});
  }
  return all;
}

}  // namespace

std::vector<Metric> plan_metrics(const Model& model) {
  std::vector<Metric> metrics;
  std::map<std::string, int> seen;
  for (const Part& part : model.train.metrics) {
    const int count = ++seen[part.op];
    const std::string name = count == 1 ? part.op : fmt::format("{}_{}", part.op, count);
    metrics.push_back({name, find_metric(part.op)->higher_is_better});
  }
  return metrics;
}

ValueId add_loss(Expansion& e, const Model& model, Diagnostics& errors) {
  ValueId loss;
  guarded(errors, [&] {
    const Part& part = *model.train.loss;
    const LossDef& def = *find_loss(part.op);
    loss = measure(e, model, part, def.inputs, def.settings, "loss " + part.op, "loss", def.mean);
    named(e, loss, "loss");
  });
  return loss;
}

ValueId add_totals(Expansion& e, const Model& model, ValueId loss, Diagnostics& errors) {
  const Part& part = *model.train.loss;
  const LossDef& def = *find_loss(part.op);
  const ValueId counted =
      named(e, measure(e, model, part, def.inputs, def.settings, "loss " + part.op, "loss", def.count), "loss.count");
  Totals totals(e, part.op_where);
  totals.add("loss", totals.times(loss, counted), counted);
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
  return counted;
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
  return g;
}

}  // namespace heddle::frontend
