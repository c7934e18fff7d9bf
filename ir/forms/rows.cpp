// Form rows: teams pass over their rows; what is one value a row follows; then single values, and what blocks sum up
// together, which the last of them finishes.
#include <algorithm>
#include <set>

#include "ir/kernel/form_def.h"
#include "ir/kernel/long_sums.h"
#include "ir/kernel/plan_reductions.h"
#include "ir/kernel/plan_values.h"
#include "ir/loop/singles.h"

namespace heddle::ir {
namespace {

using namespace loop;  // NOLINT: this file speaks of little else

// Total results alone, over a domain without columns, are summed along one row by all blocks.
bool only_totals(const Graph& k) {
  return std::all_of(k.order.begin(), k.order.end(), [&](NodeId n) {
    ReductionDomain storage;
    return reduction_domain(signature(k, k[n]), storage) == nullptr || k[k[n].results[0]].type.elements() == 1;
  });
}

KernelPlan plan_rows(const Graph& k) {
  const int64_t rows = k.form->rows(), columns = k.form->columns();
  const bool flat = columns == 1 && k.form->blocks > 0 && only_totals(k);
  return plan_values(k, flat ? Dims{1, rows} : Dims{rows, columns}).plan;
}

class RowLoops {
 public:
  RowLoops(const Graph& k, const KernelPlan& plan) : k_(k), plan_(plan) {
    for (const NodeId id : k.order) {
      const Node& n = k[id];
      const ReductionPlan how = of(n.results[0]).reduction;
      if (how == ReductionPlan::none || how == ReductionPlan::inner) continue;
      const Signature s = signature(k, n);
      ReductionDomain d;
      reduction_domain(s, d);
      reductions_.push_back({{id, how, spread_reduction(s, d, how, plan.space())},
                             of(n.results[0]).phase,
                             is_per_point(how, d, plan.space()),
                             is_long_sum(k, plan, n)});
    }
  }

  Statements all() {
    Statements all;
    for (const Sum& r : reductions_)
      if (r.add.plan != ReductionPlan::row) all.push_back({Clear{r.add.reduction}});
    for (size_t i = 0; i < plan_.kept.size(); ++i) all.push_back({Keep{i}});
    append(all, singles(k_, plan_));
    all.push_back({plan_.span ? pass(0) : rows()});
    append(all, one(Axis::one_of_all, Extent::scalar, /*finishing=*/false));
    append(all, blocks());
    return all;
  }

 private:
  struct Sum {
    Accumulate add;
    int phase = 0;
    bool per_point = true, is_long = false;
    bool in_pass(int pass) const { return phase == pass && per_point; }
    bool of_row() const { return add.plan == ReductionPlan::row; }
  };

  static void append(Statements& to, Statements more) {
    to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  const ValuePlan& of(ValueId v) const { return plan_.values[static_cast<size_t>(v.index)]; }
  bool is_column(const Partials& p) const { return of(k_[p.reduction].results[0]).reduction == ReductionPlan::column; }

  // The results that `is` holds for and that no earlier statement stores.
  template <class Is>
  Statements stores(Extent extent, const Is& is) {
    Statements all;
    for (const ValueId v : k_.outputs)
      if (is(of(v)) && stored_.insert(v).second)
        all.push_back({Store{v, extent, access_of(extent, plan_.space(), k_[v].type.dims)}});
    return all;
  }

  // The long sums that `is` holds for, in runs of so many turns.
  template <class Is>
  EndOfRuns runs(int64_t turns, const Is& is) const {
    EndOfRuns runs;
    for (const Sum& r : reductions_)
      if (turns > 0 && r.is_long && is(r)) runs.sums.push_back(r.add.reduction);
    if (!runs.sums.empty()) runs.turns = turns;
    return runs;
  }

  // One pass over the columns: its sums and its results.
  Nest pass(int phase) {
    Nest columns{
        .axis = plan_.span ? Axis::span : Axis::columns, .extents = {plan_.columns}, .pass = phase, .body = {}};
    const int64_t turns = elements_of_row(*k_.form, plan_) > kRun ? turns_of_run(*k_.form, plan_) : 0;
    columns.runs = runs(turns, [&](const Sum& r) { return r.add.plan != ReductionPlan::column && r.in_pass(phase); });
    for (const Sum& r : reductions_)
      if (r.in_pass(phase)) columns.body.push_back({r.add});
    append(columns.body, stores(Extent::full, [&](const ValuePlan& p) {
             return !p.finishing && p.extent == Extent::full && p.phase == phase;
           }));
    return columns;
  }

  Nest rows() {
    Nest rows{.axis = Axis::rows, .extents = {plan_.rows}, .body = {}};
    rows.runs = runs(rows_of_run(k_, plan_), [](const Sum& r) { return !r.of_row(); });
    for (int phase = 0; phase < plan_.phases; ++phase) {
      const auto ends_here = [&](const Sum& r) { return r.of_row() && r.phase == phase; };
      for (const Sum& r : reductions_)
        if (ends_here(r)) rows.body.push_back({Clear{r.add.reduction}});
      rows.body.push_back({pass(phase)});
      for (const Sum& r : reductions_)
        if (ends_here(r)) rows.body.push_back({Combine{r.add.reduction}});
    }
    Nest one{.axis = Axis::one_of_team, .body = {}};
    for (const Sum& r : reductions_)
      if (!r.per_point) one.body.push_back({r.add});
    append(one.body, stores(Extent::row, [](const ValuePlan& p) { return !p.finishing && p.extent == Extent::row; }));
    if (!one.body.empty()) rows.body.push_back({std::move(one)});
    return rows;
  }

  // One thread loads what single values are made of, too: a result may lie over an operand.
  Statements one(Axis axis, Extent extent, bool finishing) {
    Nest one{.axis = axis, .body = stores(extent, [&](const ValuePlan& p) {
                             return p.finishing == finishing && (finishing ? p.extent == extent : is_single(plan_, p));
                           })};
    if (one.body.empty()) return {};
    return {{std::move(one)}};
  }

  // Each block leaves its sums; the last to arrive, of all or of a group and then of the groups, goes on.
  Statements blocks() {
    Statements all;
    if (plan_.partials.empty()) return all;
    for (size_t i = 0; i < plan_.partials.size(); ++i) all.push_back({Put{i}});
    const int64_t blocks = std::max<int64_t>(k_.form->blocks, 1);
    const int64_t gather = plan_.gather > 0 ? plan_.gather : blocks, groups = (blocks + gather - 1) / gather;
    if (plan_.gather == 0) {
      all.push_back({Nest{.axis = Axis::last_block, .extents = {blocks, blocks, 1}, .body = finish()}});
      return all;
    }
    Nest group{.axis = Axis::last_block, .extents = {blocks, gather, groups}, .body = add_blocks()};
    group.body.push_back({Nest{.axis = Axis::last_block, .extents = {groups, groups, 1}, .body = finish()}});
    all.push_back({std::move(group)});
    return all;
  }

  Statements add_blocks() const {
    Statements all;
    for (size_t i = 0; i < plan_.partials.size(); ++i)
      if (is_column(plan_.partials[i])) all.push_back({AddBlocks{i}});
    return all;
  }
  Statements take(bool columns) const {
    Statements all;
    for (size_t i = 0; i < plan_.partials.size(); ++i)
      if (is_column(plan_.partials[i]) == columns) all.push_back({Take{i}});
    return all;
  }

  // Totals first, since every column may need them.
  Statements finish() {
    Statements all = take(/*columns=*/false);
    append(all, one(Axis::one_of_block, Extent::scalar, /*finishing=*/true));
    append(all, add_blocks());
    Nest columns{.axis = Axis::last_columns, .extents = {plan_.columns}, .body = take(/*columns=*/true)};
    append(columns.body,
           stores(Extent::column, [](const ValuePlan& p) { return p.finishing && p.extent == Extent::column; }));
    if (!columns.body.empty()) all.push_back({std::move(columns)});
    return all;
  }

  const Graph& k_;
  const KernelPlan& plan_;
  std::vector<Sum> reductions_;
  std::set<ValueId> stored_;
};

Statements row_loops(const Graph& k, const KernelPlan& plan) { return RowLoops(k, plan).all(); }

const RegisterForm rows({.kind = KernelForm::Kind::rows, .name = "rows", .plan = plan_rows, .loops = row_loops});

}  // namespace
}  // namespace heddle::ir
