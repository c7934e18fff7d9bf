// The loss and the metrics of one graph.
#include <fmt/format.h>

#include <map>

#include "frontend/fields.h"
#include "frontend/train_step.h"
#include "frontend/training_def.h"

namespace heddle::frontend {

using ir::ValueId;

namespace {

// The part's operands; empty where one is faulty, which has been reported.
ir::Values operands(const Expansion& e, const Part& part, size_t wanted, const std::string& title) {
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
    values.push_back(v);
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

}  // namespace

std::vector<Metric> plan_metrics(const Model& model) {
  std::vector<Metric> metrics;
  std::map<std::string, int> seen;
  for (const Part& part : model.train.metrics) {
    const MetricDef& def = *find_metric(part.op);
    const int count = ++seen[part.op];
    const std::string name = count == 1 ? part.op : fmt::format("{}_{}", part.op, count);
    metrics.push_back({name, name + ".sum", name + ".count", def.finish, def.higher_is_better});
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

ir::Values add_loss_totals(Expansion& e, const Model& model, ValueId loss) {
  const Part& part = *model.train.loss;
  const LossDef& def = *find_loss(part.op);
  const ValueId count =
      named(e, measure(e, model, part, def.inputs, def.settings, "loss " + part.op, "loss", def.count), "loss.count");
  ir::Builder b(e.graph);
  b.loc = part.op_where;
  return {b("mul", {loss, count}, {}, "loss.sum"), count};
}

ir::Values add_metrics(Expansion& e, const Model& model, Diagnostics& errors) {
  ir::Values out;
  const std::vector<Metric> plan = plan_metrics(model);
  for (size_t i = 0; i < plan.size(); ++i) {
    const Part& part = model.train.metrics[i];
    const MetricDef& def = *find_metric(part.op);
    const auto total = [&](const std::string& name, const std::function<ValueId(MeasureContext&)>& build) {
      ValueId v;
      guarded(errors,
              [&] { v = measure(e, model, part, def.inputs, def.settings, "metric " + part.op, plan[i].name, build); });
      out.push_back(named(e, v, name));
    };
    total(plan[i].numerator, def.numerator);
    if (out.back().valid()) total(plan[i].denominator, def.denominator);
  }
  return out;
}

}  // namespace heddle::frontend
