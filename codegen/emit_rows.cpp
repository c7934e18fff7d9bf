#include <fmt/format.h>

#include <algorithm>

#include "codegen/emit_forms.h"
#include "codegen/scalar_functions.h"
#include "ir/check.h"
#include "ir/visit.h"

namespace heddle::codegen {

using namespace ir;  // NOLINT: this file speaks of little else

namespace {

// An expression this costly is kept from one pass over the row to the next rather than computed again.
constexpr double kWorthKeeping = 4;

class RowsText {
 public:
  RowsText(KernelText& text, std::map<ValueId, std::string> keep) : text_(text), k_(text.kernel), body_(text) {
    body_.keep = std::move(keep);
    for (const NodeId n : k_.order) {
      const ReductionPlan plan = plan_of(k_[n].results[0]).reduction;
      if (plan == ReductionPlan::row || plan == ReductionPlan::column || plan == ReductionPlan::total)
        reductions_.push_back(n);
    }
  }

  std::vector<std::string> lines() {
    declare_accumulators();
    if (is_span(text_)) {
      pass(0, fmt::format("HD_SPAN({}, column, {}, {})", text_.index_type, text_.plan.columns, text_.packet));
    } else {
      body_.open(/*covers=*/1);
      for (int phase = 0; phase < text_.plan.phases; ++phase) row_pass(phase);
      finish_row();
      const std::string head = fmt::format("HD_ROWS({}, row, {}, {})", text_.index_type, text_.plan.rows, text_.team);
      const std::vector<std::string> row = body_.close();
      if (!row.empty()) body_.lines(block(head, row));
    }
    store_scalars();
    finish_blocks();
    for (const ValueId v : k_.outputs)
      HEDDLE_CHECK(stored_.count(v) != 0, fmt::format("@{} does not store %{}", k_.name, k_[v].name));
    return body_.close();
  }

  // Values computed in one pass and again in a later one.
  const std::vector<ValueId>& repeated() const { return repeated_; }

 private:
  const ValuePlan& plan_of(ValueId v) const { return text_.plan.values[static_cast<size_t>(v.index)]; }
  std::string lane() const { return text_.packet > 1 ? "[slot][k]" : "[slot][0]"; }
  // Its elements are computed point by point, not once per row.
  bool per_point(const Node& n) const {
    ReductionDomain storage;
    const Signature s = signature(k_, n);
    reduction_domain(s, storage);
    return plan_of(n.results[0]).reduction != ReductionPlan::total || text_.plan.rows == 1 ||
           product(storage.extents) == text_.plan.rows * text_.plan.columns;
  }

  void declare_accumulators() {
    for (const NodeId id : reductions_) {
      const Node& n = k_[id];
      const ReductionPlan plan = plan_of(n.results[0]).reduction;
      const std::string m = monoid(signature(k_, n));
      const std::string name = text_.names.fresh(k_[n.results[0]].name + "_acc");
      accumulators_[id] = name;
      if (plan == ReductionPlan::column)
        body_.line(fmt::format("hd::ColumnResults<{}, {}, {}, {}> {};", m, text_.plan.columns, text_.team, text_.packet,
                               name));
      if (plan == ReductionPlan::total)
        body_.line(fmt::format("hd::Accumulator<{}, {}> {};", m, text_.plan.columns, name));
    }
    for (const auto& [v, row] : body_.keep)
      body_.line(fmt::format("hd::Row<{}, {}, {}, {}> {};", compute_type(k_[v].type.dtype), text_.plan.columns,
                             text_.team, text_.packet, row));
  }

  void row_pass(int phase) {
    std::vector<NodeId> rows;
    for (const NodeId id : reductions_)
      if (plan_of(k_[id].results[0]).reduction == ReductionPlan::row && plan_of(k_[id].results[0]).phase == phase)
        rows.push_back(id);
    for (const NodeId id : rows)
      body_.line(fmt::format("hd::Accumulator<{}, {}> {};", monoid(signature(k_, k_[id])), text_.plan.columns,
                             accumulators_[id]));
    const bool lanes = std::any_of(reductions_.begin(), reductions_.end(), [&](NodeId id) {
      const ValuePlan& p = plan_of(k_[id].results[0]);
      return p.reduction != ReductionPlan::column && p.phase == phase && per_point(k_[id]);
    });
    pass(phase, fmt::format("{}({}, column, slot, {}, {}, {})", lanes ? "HD_REDUCE" : "HD_COLUMNS", text_.index_type,
                            text_.plan.columns, text_.team, text_.packet));
    for (const NodeId id : rows) finish_row_reduction(id);
  }

  // One loop over the columns: the reductions and results of this phase.
  void pass(int phase, const std::string& head) {
    body_.phase = phase;
    body_.computed.clear();
    body_.open_columns();
    bool work = false, slots = !body_.keep.empty();
    for (const NodeId id : reductions_) {
      const ValuePlan& p = plan_of(k_[id].results[0]);
      if (p.phase != phase || !per_point(k_[id])) continue;
      const bool column = p.reduction == ReductionPlan::column;
      body_.accumulate(k_[id], accumulators_[id] + (column ? lane() : "[HD_LANE]"));
      work = true;
      slots = slots || column;
    }
    for (const ValueId v : k_.outputs) {
      const ValuePlan& p = plan_of(v);
      if (p.finishing || p.extent != Extent::full || p.phase != phase || !stored_.insert(v).second) continue;
      body_.store(v, Extent::full);
      work = true;
    }
    for (const ValueId v : body_.computed)
      if (!seen_.insert(v).second) repeated_.push_back(v);
    const std::vector<std::string> inside = body_.close_columns();
    if (!work) return;
    if (slots && !is_span(text_)) body_.line("HD_IN_REGISTERS");
    body_.lines(block(head, inside));
  }

  void finish_row_reduction(NodeId id) {
    const Node& n = k_[id];
    const Signature s = signature(k_, n);
    ReductionDomain d;
    reduction_domain(s, d);
    const int64_t count = d.count != 0 ? d.count : product(d.extents);
    const std::string whole = text_.names.fresh(k_[n.results[0]].name + "_row");
    body_.line(fmt::format("const auto {} = hd::combine<{}>({});", whole, text_.team, accumulators_[id]));
    for (size_t r = 0; r < n.results.size(); ++r) {
      const Value& v = k_[n.results[r]];
      const std::string name = text_.names.fresh(v.name);
      body_.line(fmt::format("const {} {} = {};{}", compute_type(v.type.dtype), name,
                             finish_call(s, r, whole, count, integer_literal(count)), place_comment(n.loc)));
      body_.define(n.results[r], name);
    }
  }

  void finish_row() {
    const std::string one = fmt::format("HD_ONE_OF_TEAM({}) ", text_.team);
    for (const NodeId id : reductions_)
      if (!per_point(k_[id])) body_.accumulate(k_[id], accumulators_[id] + "[HD_ROW_LANE(row)]", one);
    for (const ValueId v : k_.outputs)
      if (!plan_of(v).finishing && plan_of(v).extent == Extent::row && stored_.insert(v).second)
        body_.store(v, Extent::row, one);
  }

  // A span has one row and no loop over rows, so what has one value per row has one value.
  void store_scalars() {
    const auto single = [&](const ValuePlan& p) {
      return !p.finishing && (p.extent == Extent::scalar || (p.extent == Extent::row && is_span(text_)));
    };
    for (const ValueId v : k_.outputs)
      if (single(plan_of(v)) && stored_.insert(v).second) body_.store(v, Extent::scalar, "HD_ONE_OF_ALL ");
  }

  // Partial results of this block; the last block to arrive adds them up and stores what follows from them.
  void finish_blocks() {
    struct Place {
      const Node* node;
      std::string partials;
      bool column;
    };
    std::vector<Place> places;
    int64_t bytes = 0;
    for (const NodeId id : reductions_) {
      const Node& n = k_[id];
      const ReductionPlan plan = plan_of(n.results[0]).reduction;
      if (plan == ReductionPlan::row) continue;
      const Signature s = signature(k_, n);
      const bool column = plan == ReductionPlan::column;
      const std::string name = text_.names.fresh(k_[n.results[0]].name + "_partials");
      body_.line(fmt::format("auto* {} = hd::partials_at<{}>(scratch, {});", name, monoid(s), bytes));
      const std::string put = column ? "put_columns" : fmt::format("put_total<{}>", text_.team);
      body_.line(fmt::format("hd::{}({}, {});", put, name, accumulators_[id]));
      const int64_t width = column ? text_.plan.columns : 1;
      bytes += (accumulator_bytes(s) * width * std::max<int64_t>(k_.form->blocks, 1) + 15) / 16 * 16;
      places.push_back({&n, name, column});
    }
    if (places.empty()) return;
    Body last(text_);
    for (const Place& p : places)
      if (!p.column) finish_reduction(last, *p.node, fmt::format("hd::get_total({})", p.partials));
    store_finished(last, Extent::scalar, "HD_ONE_OF_BLOCK ");
    for (const Place& p : places)
      if (p.column) last.line(fmt::format("hd::add_blocks({}, {});", p.partials, text_.plan.columns));
    last.open(/*covers=*/2);
    for (const Place& p : places)
      if (p.column)
        finish_reduction(last, *p.node, fmt::format("hd::get_column({}, {}, column)", p.partials, text_.plan.columns));
    store_finished(last, Extent::column, "");
    const std::vector<std::string> columns = last.close();
    if (!columns.empty())
      last.lines(block(fmt::format("HD_FINISH({}, column, {})", text_.index_type, text_.plan.columns), columns));
    body_.lines(block("if (hd::last_block(counter))", last.close()));
  }

  void finish_reduction(Body& body, const Node& n, const std::string& whole) {
    const Signature s = signature(k_, n);
    ReductionDomain d;
    reduction_domain(s, d);
    const int64_t count = d.count != 0 ? d.count : product(d.extents);
    const std::string all = text_.names.fresh(k_[n.results[0]].name + "_all");
    body.line(fmt::format("const auto {} = {};", all, whole));
    for (size_t r = 0; r < n.results.size(); ++r) {
      const Value& v = k_[n.results[r]];
      const std::string name = text_.names.fresh(v.name);
      body.line(fmt::format("const {} {} = {};{}", compute_type(v.type.dtype), name,
                            finish_call(s, r, all, count, integer_literal(count)), place_comment(n.loc)));
      body.define(n.results[r], name);
    }
  }

  void store_finished(Body& body, Extent extent, const std::string& condition) {
    for (const ValueId v : k_.outputs)
      if (plan_of(v).finishing && plan_of(v).extent == extent && stored_.insert(v).second)
        body.store(v, extent, condition);
  }

  KernelText& text_;
  const Graph& k_;
  Body body_;
  std::vector<NodeId> reductions_;
  std::map<NodeId, std::string> accumulators_;
  std::set<ValueId> stored_, seen_;
  std::vector<ValueId> repeated_;
};

// What computing the value at one point costs, back to loads and kept values.
double point_flops(const Graph& k, const KernelPlan& plan, ValueId v) {
  const Node* n = k.def(v);
  if (n == nullptr || plan.values[static_cast<size_t>(v.index)].reduction == ReductionPlan::row) return 0;
  double flops = visit_kind(
      *n->op, [&](const OneOf<Elementwise, Source> auto&) { return n->op->flops; },
      [](const OneOf<Movement, Reduction, Contraction, Composite, Gradient, Call> auto&) { return 0.0; });
  if (plan.values[static_cast<size_t>(v.index)].reduction == ReductionPlan::inner) return 100;
  for (const ValueId o : n->operands) flops += point_flops(k, plan, o);
  return flops;
}

}  // namespace

bool is_span(const KernelText& text) {
  const auto total = [](const ValuePlan& p) { return p.reduction == ReductionPlan::total; };
  const auto row = [](const ValuePlan& p) { return p.reduction == ReductionPlan::row; };
  return text.plan.rows == 1 && std::any_of(text.plan.values.begin(), text.plan.values.end(), total) &&
         std::none_of(text.plan.values.begin(), text.plan.values.end(), row);
}

// Written once to see which values several passes need, then with the costly ones of those kept in registers.
std::vector<std::string> emit_rows(KernelText& text) {
  std::map<ValueId, std::string> keep;
  const Names names = text.names;
  if (text.kernel.form->cached) {
    RowsText trial(text, {});
    trial.lines();
    for (const ValueId v : trial.repeated())
      if (point_flops(text.kernel, text.plan, v) >= kWorthKeeping) keep[v] = "";
    text.names = names;
    for (auto& [v, row] : keep) row = text.names.fresh(text.kernel[v].name + "_row");
  }
  return RowsText(text, keep).lines();
}

}  // namespace heddle::codegen
