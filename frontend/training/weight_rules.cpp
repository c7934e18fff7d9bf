#include "frontend/training/weight_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontend/training/parameter_patterns.h"

namespace heddle::frontend {

using ir::Dims;
using ir::ValueId;

ValueId PenaltyContext::emit(std::string_view op, const ir::Values& operands, ir::Attrs attrs,
                             std::string_view suffix) {
  return b(op, operands, std::move(attrs), fmt::format("{}.{}", name, suffix));
}

ValueId PenaltyContext::weighted(const ir::Values& terms, std::string_view factor) {
  ValueId sum = terms.at(0);
  for (size_t i = 1; i < terms.size(); ++i) sum = emit("add", {sum, terms[i]}, {}, "so_far");
  b.prefix = fmt::format("{}.{}", name, factor);
  return emit("mul", {sum, b.like(settings.real(factor), sum)}, {}, fmt::format("{}.weighted", factor));
}

ValueId ConstraintContext::emit(std::string_view op, const ir::Values& operands, ir::Attrs attrs,
                                std::string_view suffix) {
  return b(op, operands, std::move(attrs), fmt::format("{}.{}", path, suffix));
}

ValueId ConstraintContext::norm() {
  const ValueId squares = emit("square", {value}, {}, "squares");
  return emit("sqrt", {axes.empty() ? squares : emit("reduce_sum", {squares}, {{"axes", axes}}, "squared_norm")}, {},
              "norm");
}

ValueId ConstraintContext::spread(ValueId of_norms, std::string_view suffix) {
  const Dims dims = b.type(value).dims;
  if (axes.empty()) return of_norms;
  Dims kept;
  for (int64_t d = 0; d < static_cast<int64_t>(dims.size()); ++d)
    if (std::ranges::count(axes, d) == 0) kept.push_back(d);
  return emit("broadcast", {of_norms}, {{"shape", dims}, {"dims", kept}}, suffix);
}

namespace {

Diagnostic note(const Location& where, const std::string& message) { return {Severity::note, where, message, {}, {}}; }

// Each row of a sparse table would change in each step.
void require_whole(const Parameter& p, const WeightRule& rule) {
  if (p.sparse)
    throw UserError(
        *p.sparse, fmt::format("a penalty {} gives every row of '{}' a gradient in each step", rule.op, p.path),
        "leave out \"sparse\", or match other parameters", {note(rule.op_where, "the penalty stands here")});
}

void require_rank(const Parameter& p, const WeightRule& rule, const RegularizerDef& def) {
  if (p.type.dims.size() < def.least_rank)
    throw UserError(rule.op_where,
                    fmt::format("regularizer {}: '{}' has the shape {}, and is no matrix: expected {} axes or more",
                                rule.op, p.path, ir::to_string(p.type.dims), def.least_rank),
                    "match others: \"*.weight\" leaves biases out", {note(p.where, "the parameter comes from here")});
}

// The axes that the norms of a constraint add up, of the parameter as the model speaks of it: all but the first where
// nothing is said, so that a unit, a filter or a row of a table has a norm of its own.
Dims norm_axes(const Settings& settings, const Parameter& p) {
  const int64_t rank = p.type.rank();
  if (settings.json("axis") == nullptr) {
    Dims axes(static_cast<size_t>(std::max<int64_t>(rank - 1, rank == 1 ? 1 : 0)));
    std::iota(axes.begin(), axes.end(), rank > 1 ? 1 : 0);
    return axes;
  }
  Dims axes = settings.integers("axis");
  if (axes.empty()) settings.fail("axis", "'axis' is an empty list");
  for (int64_t& axis : axes) {
    if (axis < -rank || axis >= rank)
      settings.fail("axis", fmt::format("axis {} is outside '{}' {}", axis, p.path, ir::to_string(p.type.dims)));
    axis = axis < 0 ? axis + rank : axis;
  }
  std::ranges::sort(axes);
  if (std::ranges::adjacent_find(axes) != axes.end()) settings.fail("axis", "an axis is named twice");
  return axes;
}

void require_own_rows(const Settings& settings, const Parameter& p, const Dims& axes) {
  if (p.sparse && std::ranges::count(axes, 0) > 0)
    settings.fail(
        "axis", fmt::format("a norm over axis 0 takes all rows of '{}', and \"sparse\" renews a batch's alone", p.path),
        "leave out \"sparse\", or write \"axis\": 1");
}

// Those axes of the value in memory.
Dims in_memory(Dims axes, const ir::Layout& layout) {
  if (layout.empty()) return axes;
  const ir::Layout places = ir::inverse(layout);
  for (int64_t& axis : axes) axis = places[static_cast<size_t>(axis)];
  std::ranges::sort(axes);
  return axes;
}

}  // namespace

ValueId add_penalty(Instance& e, const Model& model, const WeightRule& rule, const std::string& name,
                    Diagnostics& errors) {
  const RegularizerDef& def = *find_regularizer(rule.op);
  const Settings settings(rule.settings, def.settings, model.let, "regularizer " + rule.op, rule.op_where);
  check_patterns(rule.match, e, "matches no parameter", errors);
  ir::Builder b(e.graph);
  b.loc = rule.op_where;
  ir::Values parameters;
  for (const Parameter& p : e.parameters) {
    if (p.role != ir::Role::param || !matches(rule.match, p.path) || is_frozen(model.train, p)) continue;
    require_whole(p, rule);
    require_rank(p, rule, def);
    parameters.push_back(p.value);
  }
  b.prefix = name + ".none";
  if (parameters.empty()) return b.constant(0, {ir::DType::f32, {}});
  PenaltyContext context{b, settings, parameters, [&](size_t i) { return e.logical(parameters[i]); }, name};
  return def.penalty(context);
}

ValueId constrained(ir::Graph& g, const Model& model, const Parameter& p, ValueId next) {
  for (const WeightRule& rule : model.train.constrain) {
    if (!matches(rule.match, p.path)) continue;
    const ConstraintDef& def = *find_constraint(rule.op);
    const Settings settings(rule.settings, def.settings, model.let, "constraint " + rule.op, rule.op_where);
    const Dims axes = def.norms ? norm_axes(settings, p) : Dims{};
    require_own_rows(settings, p, axes);
    ir::Builder b(g);
    b.loc = rule.op_where;
    b.prefix = fmt::format("{}.{}.constant", p.path, rule.op);
    ConstraintContext context{b, settings, next, in_memory(axes, p.layout), p.path};
    next = def.apply(context);
  }
  return next;
}

}  // namespace heddle::frontend
