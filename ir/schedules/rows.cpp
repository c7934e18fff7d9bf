// Schedule rows: teams pass over their rows, then compute values per row. After all rows come single values, and sums
// over all blocks, which the last block finishes.
#include <algorithm>
#include <set>

#include "ir/ceil_div.h"
#include "ir/kernel/access.h"
#include "ir/kernel/columns_meet.h"
#include "ir/kernel/long_sums.h"
#include "ir/kernel/plan_kept.h"
#include "ir/kernel/plan_reductions.h"
#include "ir/kernel/plan_values.h"
#include "ir/kernel/schedule_def.h"
#include "ir/loop/singles.h"

namespace heddle::ir {
namespace {

using namespace loop;  // NOLINT: this file speaks of little else

// Whether all reductions are totals. If the domain also has no columns, all blocks sum along one row.
bool only_totals(const Graph& k) {
  return std::all_of(k.order.begin(), k.order.end(), [&](NodeId n) {
    ReductionDomain storage;
    return reduction_domain(signature(k, k[n]), storage) == nullptr || k[k[n].results[0]].type.elements() == 1;
  });
}

// Lays out the partial results: an array for each reduction, with the accumulators of block after block, aligned to 16
// bytes.
void plan_partials(const Graph& k, int64_t blocks, KernelPlan& plan) {
  for (const NodeId n : k.order) {
    const ReductionPlan kind = plan.of(k[n].results[0]).reduction;
    if (kind != ReductionPlan::column && kind != ReductionPlan::total) continue;
    const int64_t width = kind == ReductionPlan::column ? plan.columns : 1;
    plan.partials.push_back({n, plan.partial_bytes, width});
    const int64_t bytes = accumulator_bytes(signature(k, k[n])) * width * blocks;
    plan.partial_bytes += (bytes + 15) / 16 * 16;
  }
}

// One counter for all blocks; with groups, a counter for each group and one for the groups.
void plan_meeting(const Graph& k, int64_t threads, int64_t blocks, KernelPlan& plan) {
  if (plan.partials.empty()) return;
  std::vector<int64_t> bytes;
  for (const Partials& p : plan.partials)
    if (is_column(k, plan, p.reduction)) bytes.push_back(accumulator_bytes(signature(k, k[p.reduction])));
  const int64_t gather = blocks_gather(threads, blocks, plan.columns, bytes);
  plan.gather = gather < blocks ? gather : 0;
  plan.counters = plan.gather > 0 ? 1 + ceil_div(blocks, gather) : 1;
}

int64_t most_blocks(const schedules::Rows& schedule, const KernelPlan& plan) {
  if (!plan.partials.empty()) return std::max<int64_t>(schedule.blocks, 1);
  return plan.span ? most_blocks_of_points(plan, schedule.threads, schedule.vector_width)
                   : most_blocks_of_rows(plan, schedule.threads, schedule.team);
}

KernelPlan plan_rows(const Graph& k, const schedules::Rows& schedule) {
  const int64_t rows = schedule.rows(), columns = schedule.columns(), blocks = std::max<int64_t>(schedule.blocks, 1);
  const bool flat = columns == 1 && schedule.blocks > 0 && only_totals(k);
  KernelPlan plan = plan_values(k, flat ? Dims{1, rows} : Dims{rows, columns}).plan;
  plan.span = plan.rows == 1 && has_reduction(plan, ReductionPlan::total) && !has_reduction(plan, ReductionPlan::row);
  plan_partials(k, blocks, plan);
  plan_meeting(k, schedule.threads, blocks, plan);
  if (schedule.cached) plan.kept = plan_kept(k, plan);
  plan.most_blocks = most_blocks(schedule, plan);
  return plan;
}

class RowLoops {
 public:
  RowLoops(const Graph& k, const schedules::Rows& schedule, const KernelPlan& plan)
      : k_(k), schedule_(schedule), plan_(plan) {
    for (const NodeId id : k.order) {
      const Node& n = k[id];
      const ReductionPlan how = plan_.of(n.results[0]).reduction;
      if (how == ReductionPlan::none || how == ReductionPlan::inner) continue;
      const Signature s = signature(k, n);
      ReductionDomain d;
      reduction_domain(s, d);
      reductions_.push_back({{id, how, spread_reduction(s, d, how, plan.space())},
                             plan_.of(n.results[0]).phase,
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

  // Stores of the results for which `is` holds and which no earlier statement stores.
  template <class Is>
  Statements stores(Extent extent, const Is& is) {
    Statements all;
    for (const ValueId v : k_.outputs)
      if (is(plan_.of(v)) && stored_.insert(v).second)
        all.push_back({Store{v, extent, access_of(extent, plan_.space(), k_[v].type.dims)}});
    return all;
  }

  // The long sums for which `is` holds, with runs of `turns` turns.
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
    const int64_t turns = elements_of_row(schedule_, plan_) > kRun ? turns_of_run(schedule_, plan_) : 0;
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
    rows.runs = runs(rows_of_run(k_, schedule_, plan_), [](const Sum& r) { return !r.of_row(); });
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

  // One thread computes single values and also loads their operands, because a result may lie over an operand.
  Statements one(Axis axis, Extent extent, bool finishing) {
    Nest one{.axis = axis, .body = stores(extent, [&](const ValuePlan& p) {
                             return p.finishing == finishing && (finishing ? p.extent == extent : is_single(plan_, p));
                           })};
    if (one.body.empty()) return {};
    return {{std::move(one)}};
  }

  // Each block writes its sums. The last block to arrive continues: the last of all, or the last of each group and then
  // of the groups.
  Statements blocks() {
    Statements all;
    if (plan_.partials.empty()) return all;
    for (size_t i = 0; i < plan_.partials.size(); ++i) all.push_back({Put{i}});
    const int64_t blocks = std::max<int64_t>(schedule_.blocks, 1);
    const int64_t gather = plan_.gather > 0 ? plan_.gather : blocks, groups = ceil_div(blocks, gather);
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
      if (is_column(k_, plan_, plan_.partials[i].reduction)) all.push_back({AddBlocks{i}});
    return all;
  }
  Statements take(bool columns) const {
    Statements all;
    for (size_t i = 0; i < plan_.partials.size(); ++i)
      if (is_column(k_, plan_, plan_.partials[i].reduction) == columns) all.push_back({Take{i}});
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
  const schedules::Rows& schedule_;
  const KernelPlan& plan_;
  std::vector<Sum> reductions_;
  std::set<ValueId> stored_;
};

Statements row_loops(const Graph& k, const schedules::Rows& schedule, const KernelPlan& plan) {
  return RowLoops(k, schedule, plan).all();
}

}  // namespace

const KernelScheduleDef<schedules::Rows>& schedules::Rows::def() {
  using Schedule = schedules::Rows;
  static const KernelScheduleDef<Schedule> def = {
      .name = "rows",
      .attributes = of_domain<Schedule>({{"team", &Schedule::team, 1, kMostThreads},
                                         {"vector_width", &Schedule::vector_width, 1, kMostThreads},
                                         {"prefetch_distance", &Schedule::prefetch_distance, 1, 16},
                                         {"blocks", &Schedule::blocks, 0, kMostAtOnce},
                                         {"cached", &Schedule::cached}}),
      .plan = plan_rows,
      .loops = row_loops};
  return def;
}

}  // namespace heddle::ir
