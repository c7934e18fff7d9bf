#include <fmt/format.h>

#include <algorithm>

#include "codegen/emit_forms.h"
#include "codegen/scalar_functions.h"
#include "ir/check.h"
#include "ir/kernel/columns_meet.h"
#include "ir/kernel/long_sums.h"
#include "ir/kernel/plan_reductions.h"

namespace heddle::codegen {

using namespace ir;  // NOLINT: this file speaks of little else

namespace {

class RowsText {
 public:
  explicit RowsText(KernelText& text) : text_(text), k_(text.kernel), body_(text) {
    for (const NodeId n : k_.order) {
      const ReductionPlan plan = plan_of(k_[n].results[0]).reduction;
      if (plan == ReductionPlan::row || plan == ReductionPlan::column || plan == ReductionPlan::total)
        reductions_.push_back(n);
    }
  }

  std::vector<std::string> lines() {
    declare_accumulators();
    body_.reduce_singles();
    if (text_.plan.span) {
      const std::string of_long = long_part(0);
      pass(0, fmt::format("{}({}, column, {}, {}{})", of_long.empty() ? "HD_SPAN" : "HD_LONG_SPAN", text_.index_type,
                          text_.plan.columns, text_.packet, of_long));
    } else {
      body_.open(/*covers=*/1);
      for (int phase = 0; phase < text_.plan.phases; ++phase) row_pass(phase);
      finish_row();
      walk_rows();
    }
    store_scalars();
    finish_blocks();
    for (const ValueId v : k_.outputs)
      HEDDLE_CHECK(stored_.count(v) != 0, fmt::format("@{} does not store %{}", k_.name, k_[v].name));
    return body_.close();
  }

 private:
  const ValuePlan& plan_of(ValueId v) const { return text_.plan.values[static_cast<size_t>(v.index)]; }
  std::string lane() const { return text_.packet > 1 ? "[slot][k]" : "[slot][0]"; }
  bool per_point(const Node& n) const {
    ReductionDomain storage;
    const ReductionDomain& d = *reduction_domain(signature(k_, n), storage);
    return is_per_point(plan_of(n.results[0]).reduction, d, text_.plan.space());
  }

  void declare_accumulators() {
    for (const NodeId id : reductions_) {
      const Node& n = k_[id];
      const ReductionPlan plan = plan_of(n.results[0]).reduction;
      const std::string name = text_.names.fresh(k_[n.results[0]].name + "_acc");
      accumulators_[id] = name;
      if (is_long_sum(k_, text_.plan, n)) long_.insert(id);
      if (plan == ReductionPlan::column)
        body_.line(fmt::format("hd::{}ColumnResults<{}, {}, {}, {}> {};", long_.contains(id) ? "Long" : "",
                               monoid(signature(k_, n)), text_.plan.columns, text_.team, text_.packet, name));
      if (plan == ReductionPlan::total) declare_accumulator(id);
    }
    for (size_t i = 0; i < text_.kept.size(); ++i)
      body_.line(fmt::format("hd::Row<{}, {}, {}, {}> {};", array_type(k_[text_.plan.kept[i].value].type.dtype),
                             text_.plan.columns, text_.team, text_.packet, text_.kept[i]));
  }

  void declare_accumulator(NodeId id) {
    body_.line(fmt::format("hd::{}Accumulator<{}, {}> {};", long_.contains(id) ? "Long" : "",
                           monoid(signature(k_, k_[id])), text_.plan.columns, accumulators_[id]));
  }

  // Ends the runs of long sums that `is` holds for: one expression.
  template <class Is>
  std::string flush(const Is& is) const {
    std::vector<std::string> calls;
    for (const NodeId id : reductions_)
      if (long_.contains(id) && is(k_[id])) calls.push_back(accumulators_.at(id) + ".flush()");
    return joined(calls, ", ");
  }
  // What a loop over columns says in addition, where sums of a row's elements are long: how many of its turns make a run,
  // and what ends one.
  std::string long_part(int phase) const {
    const std::string calls = flush([&](const Node& n) {
      const ValuePlan& p = plan_of(n.results[0]);
      return p.reduction != ReductionPlan::column && p.phase == phase && per_point(n);
    });
    if (calls.empty() || elements_of_row(*k_.form, text_.plan) <= kRun) return {};
    return fmt::format(", {}, ({})", turns_of_run(*k_.form, text_.plan), calls);
  }
  // The same of loops over rows, or over batches of them.
  std::string long_rows() const {
    const int64_t rows = rows_of_run(k_, text_.plan);
    if (rows == 0) return {};
    return fmt::format(", {}, ({})", rows,
                       flush([&](const Node& n) { return plan_of(n.results[0]).reduction != ReductionPlan::row; }));
  }

  void row_pass(int phase) {
    std::vector<NodeId> rows;
    for (const NodeId id : reductions_)
      if (plan_of(k_[id].results[0]).reduction == ReductionPlan::row && plan_of(k_[id].results[0]).phase == phase)
        rows.push_back(id);
    for (const NodeId id : rows) declare_accumulator(id);
    const bool lanes = std::any_of(reductions_.begin(), reductions_.end(), [&](NodeId id) {
      const ValuePlan& p = plan_of(k_[id].results[0]);
      return p.reduction != ReductionPlan::column && p.phase == phase && per_point(k_[id]);
    });
    const std::string of_long = long_part(phase);
    pass(phase, head_of_columns(!of_long.empty() ? "HD_LONG_REDUCE" : lanes ? "HD_REDUCE" : "HD_COLUMNS", of_long));
    for (const NodeId id : rows)
      finish_reduction(body_, k_[id], "_row", fmt::format("hd::combine<{}>({})", text_.team, accumulators_[id]));
  }

  void walk_rows() {
    const std::vector<std::string> row = body_.close();
    if (row.empty()) return;
    const std::string each = fmt::format("{}, {}", text_.plan.rows, text_.team), index = text_.index_type;
    const std::string of_long = long_rows(), in_runs = of_long.empty() ? "HD_" : "HD_LONG_";
    if (text_.ahead == 1)
      return body_.lines(block(fmt::format("{}ROWS({}, row, {}{})", in_runs, index, each, of_long), row));
    const std::string of_batch = fmt::format("BATCH({}, row, {}, {})", index, each, text_.ahead);
    Body::Ahead ahead = body_.take_ahead();
    std::vector<std::string> all = std::move(ahead.arrays);
    for (const auto& lines : {block("HD_LOAD_" + of_batch, block(head_of_columns("HD_COLUMNS"), ahead.loads)),
                              block("HD_OF_" + of_batch, row)})
      all.insert(all.end(), lines.begin(), lines.end());
    body_.lines(block(fmt::format("{}BATCHES({}, {}, {}{})", in_runs, index, each, text_.ahead, of_long), all));
  }

  std::string head_of_columns(const char* loop, const std::string& of_long = {}) const {
    return fmt::format("{}({}, column, slot, {}, {}, {}{})", loop, text_.index_type, text_.plan.columns, text_.team,
                       text_.packet, of_long);
  }

  // One loop over the columns: the reductions and results of this phase.
  void pass(int phase, const std::string& head) {
    body_.set_phase(phase);
    body_.open_columns();
    bool work = false, slots = !text_.kept.empty();
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
    const std::vector<std::string> inside = body_.close_columns();
    body_.set_phase(std::nullopt);
    if (!work) return;
    if (slots && !text_.plan.span) body_.line("HD_IN_REGISTERS");
    body_.lines(block(head, inside));
  }

  void finish_row() {
    const std::string one = fmt::format("HD_ONE_OF_TEAM({}) ", text_.team);
    for (const NodeId id : reductions_)
      if (!per_point(k_[id])) body_.accumulate(k_[id], accumulators_[id] + "[HD_ROW_LANE(row)]", one);
    for (const ValueId v : k_.outputs)
      if (!plan_of(v).finishing && plan_of(v).extent == Extent::row && stored_.insert(v).second)
        body_.store(v, Extent::row, one);
  }

  // One thread loads what single values are made of, too: a result may lie over an operand.
  void store_scalars() {
    Body one(text_);
    one.share_singles(body_);
    for (const ValueId v : k_.outputs)
      if (is_single(text_.plan, plan_of(v)) && !plan_of(v).finishing && stored_.insert(v).second)
        one.store(v, Extent::scalar);
    const std::vector<std::string> lines = one.close();
    if (!lines.empty()) body_.lines(block("HD_ONE_OF_ALL", lines));
  }

  // Partial results of this block; the last block to arrive adds them up and stores what follows from them.
  void finish_blocks() {
    if (text_.plan.partials.empty()) return;
    std::vector<std::string> names;
    for (const Partials& p : text_.plan.partials) {
      const Node& n = k_[p.reduction];
      names.push_back(text_.names.fresh(k_[n.results[0]].name + "_partials"));
      body_.line(fmt::format("auto* {} = hd::partials_at<{}>(scratch, {});", names.back(), monoid(signature(k_, n)),
                             p.offset));
      const std::string put = is_column(p) ? "put_columns" : fmt::format("put_total<{}>", text_.team);
      body_.line(fmt::format("hd::{}({}, {});", put, names.back(), accumulators_[p.reduction]));
    }
    const int64_t gather = text_.plan.gather;
    if (gather == 0) return body_.lines(block("if (hd::last_block(counter))", finish(names)));
    std::vector<std::string> group;
    for (size_t i = 0; i < names.size(); ++i)
      if (is_column(text_.plan.partials[i])) group.push_back(add_blocks("add_group", gather, i, names));
    const std::vector<std::string> last = block(fmt::format("if (hd::last_group<{}>(counter))", gather), finish(names));
    group.insert(group.end(), last.begin(), last.end());
    body_.lines(block(fmt::format("if (hd::last_of_group<{}>(counter))", gather), group));
  }

  bool is_column(const Partials& p) const {
    return plan_of(k_[p.reduction].results[0]).reduction == ReductionPlan::column;
  }

  // What the last block does: totals first, since every column may need them.
  std::vector<std::string> finish(const std::vector<std::string>& names) {
    const std::vector<Partials>& partials = text_.plan.partials;
    Body last(text_), one(text_);
    for (Body* b : {&last, &one}) b->share_singles(body_);
    for (size_t i = 0; i < partials.size(); ++i)
      if (!is_column(partials[i]))
        for (const auto& [value, name] :
             finish_reduction(last, k_[partials[i].reduction], "_all", fmt::format("hd::get_total({})", names[i])))
          one.define(value, name);
    store_finished(one, Extent::scalar);
    const std::vector<std::string> single = one.close();
    if (!single.empty()) last.lines(block("HD_ONE_OF_BLOCK", single));
    for (size_t i = 0; i < partials.size(); ++i)
      if (is_column(partials[i])) last.line(add_all(i, names));
    last.open(/*covers=*/2);
    for (size_t i = 0; i < partials.size(); ++i)
      if (is_column(partials[i]))
        finish_reduction(last, k_[partials[i].reduction], "_all",
                         fmt::format("hd::get_column({}, {}, column)", names[i], partials[i].width));
    store_finished(last, Extent::column);
    const std::vector<std::string> columns = last.close();
    if (!columns.empty())
      last.lines(block(fmt::format("HD_FINISH({}, column, {})", text_.index_type, text_.plan.columns), columns));
    return last.close();
  }

  std::string add_all(size_t partials, const std::vector<std::string>& names) const {
    const int64_t blocks = std::max<int64_t>(k_.form->blocks, 1), gather = text_.plan.gather;
    if (gather == 0) return add_blocks("add_blocks", blocks, partials, names);
    return add_blocks("add_groups", (blocks + gather - 1) / gather, partials, names);
  }
  // Those of so many blocks, or groups of blocks.
  std::string add_blocks(const char* function, int64_t count, size_t partials,
                         const std::vector<std::string>& names) const {
    const Partials& p = text_.plan.partials[partials];
    const int64_t bytes = accumulator_bytes(signature(k_, k_[p.reduction]));
    const ColumnsMeet meet = columns_meet(k_.form->threads, count, p.width, bytes);
    const std::string gather = text_.plan.gather > 0 ? fmt::format("{}, ", text_.plan.gather) : "";
    return fmt::format("hd::{}<{}{}, {}, {}>({}, {});", function, gather, meet.shares, meet.at_once, meet.abreast,
                       names[partials], p.width);
  }

  // Makes the results of what a reduction has accumulated, `whole`: each with what it is called. `suffix` names the whole.
  std::vector<std::pair<ValueId, std::string>> finish_reduction(Body& body, const Node& n, const char* suffix,
                                                                const std::string& whole) {
    std::vector<std::pair<ValueId, std::string>> named;
    const Signature s = signature(k_, n);
    ReductionDomain d;
    reduction_domain(s, d);
    const int64_t count = d.counted();
    const std::string all = text_.names.fresh(k_[n.results[0]].name + suffix);
    body.line(fmt::format("const auto {} = {};", all, whole));
    for (size_t r = 0; r < n.results.size(); ++r) {
      const Value& v = k_[n.results[r]];
      const std::string name = text_.names.fresh(v.name);
      body.line(fmt::format("const {} {} = {};{}", compute_type(v.type.dtype), name,
                            finish_call(s, r, all, count, integer_literal(count)), place_comment(n.loc)));
      body.define(n.results[r], name);
      named.emplace_back(n.results[r], name);
    }
    return named;
  }

  void store_finished(Body& body, Extent extent) {
    for (const ValueId v : k_.outputs)
      if (plan_of(v).finishing && plan_of(v).extent == extent && stored_.insert(v).second) body.store(v, extent);
  }

  KernelText& text_;
  const Graph& k_;
  Body body_;
  std::vector<NodeId> reductions_;
  std::map<NodeId, std::string> accumulators_;
  std::set<NodeId> long_;  // sums in runs
  std::set<ValueId> stored_;
};

}  // namespace

std::vector<std::string> emit_rows(KernelText& text) {
  for (const KeptValue& kept : text.plan.kept)
    text.kept.push_back(text.names.fresh(text.kernel[kept.value].name + "_row"));
  return RowsText(text).lines();
}

}  // namespace heddle::codegen
