#include <algorithm>
#include <cmath>

#include "ir/kernel/count/count_collectives.h"
#include "ir/kernel/count/count_forms.h"
#include "ir/kernel/count/scalar_instructions.h"
#include "ir/kernel/long_sums.h"
#include "ir/kernel/plan_reductions.h"

namespace heddle::ir {
namespace {

class RowsCount {
 public:
  RowsCount(const Graph& k, const KernelPlan& plan, KernelCounts& to)
      : k_(k), plan_(plan), form_(*k.form), to_(to), body_(k, 2, to) {
    for (const NodeId n : k.order) {
      const ReductionPlan kind = of(k[n].results[0]).reduction;
      if (kind != ReductionPlan::none && kind != ReductionPlan::inner) reductions_.push_back(n);
    }
  }

  void run() {
    const Turns turns =
        plan_.span ? point_turns(form_, plan_.space(), to_.blocks) : row_turns(form_, plan_.space(), to_.blocks);
    times_ = turns.times;
    const auto pointers = static_cast<int64_t>(k_.inputs.size() + k_.outputs.size()) + (plan_.partials.empty() ? 0 : 2);
    count_entry(pointers, static_cast<double>(to_.blocks * to_.threads) / kLanes, times_.launch, to_);
    body_.enter(turns.times, turns.points, kOnRow | kOnColumn);
    // Whose rows and which of its columns a thread has; alone it has all columns of the row that its number says.
    const double team = form_.team == 1 ? 1 : 16;
    body_.reduce_singles(plan_, static_cast<double>(to_.blocks * to_.threads) / kLanes);
    to_.instructions.indices += team * static_cast<double>(to_.blocks * to_.threads) / kLanes + kLoop * times_.rows;
    if (form_.ahead > 1) batches();
    for (int phase = 0; phase < plan_.phases; ++phase) pass(phase);
    runs_of_rows();
    if (!plan_.span) finish_rows(turns);
    store_scalars();
    finish_blocks();
    to_.dependent_inside = body_.turns() + single_turns_;
    to_.dependent_loads = batches_of_warp() + to_.dependent_inside + to_.dependent_after_last;
  }

 private:
  static constexpr double kLoop = 4;
  double batches_of_warp() const {
    const double rows = std::ceil(times_.rows / std::max(times_.launch, 1.0));
    return std::ceil(rows / static_cast<double>(form_.ahead));
  }
  // Two loops go over the rows, each with its own conditions and most of its own indices; behind the last row the first
  // one still loads.
  void batches() {
    constexpr double kOfRow = 12, kGuards = 8, kLoaded = 25;
    const double loaded = batches_of_warp() * static_cast<double>(form_.ahead) * times_.launch;
    const double each = kOfRow + (plan_.guarded ? kGuards : 0);
    to_.instructions.indices += each * times_.rows + kLoaded * (loaded - times_.rows);
    load_last_row(loaded - times_.rows);
  }
  // Teams that have come to the end load the last row: those of a warp together.
  void load_last_row(double turns) {
    constexpr double kSector = 32;
    const int64_t warps_of_row = std::max<int64_t>(1, form_.team / kLanes);
    for (const ValueId v : k_.inputs) {
      if (k_[v].type.elements() != product(plan_.space())) continue;
      const double row = static_cast<double>(k_[v].type.bytes()) / static_cast<double>(plan_.rows);
      const double sectors = turns * std::ceil(row / static_cast<double>(warps_of_row) / kSector);
      to_.sectors_read += sectors, to_.sectors_fetched += sectors;
    }
  }
  const ValuePlan& of(ValueId v) const { return plan_.values[static_cast<size_t>(v.index)]; }
  bool per_point(const Node& n, const ReductionDomain& d) const {
    return is_per_point(of(n.results[0]).reduction, d, plan_.space());
  }

  void pass(int phase) {
    const int64_t slots = (plan_.columns + form_.team * form_.packet - 1) / (form_.team * form_.packet);
    // Straight lines share what they load and compute: one slot, or several that are unrolled to keep elements.
    const bool whole = plan_.columns % (form_.team * form_.packet) == 0;
    if (phase > 0 && (!whole || (slots > 1 && plan_.kept.empty()))) body_.next_pass(plan_.kept);
    for (const NodeId n : reductions_) add(k_[n], phase);
    for (const ValueId v : k_.outputs)
      if (of(v).extent == Extent::full && !of(v).finishing && of(v).phase == phase)
        body_.store(v, access_of(Extent::full, plan_.space(), k_[v].type.dims));
    body_.end_pass();
    for (const NodeId n : reductions_)
      if (of(k_[n].results[0]).reduction == ReductionPlan::row && of(k_[n].results[0]).phase == phase) {
        count_combine(accumulator_work(k_, k_[n]), form_, times_.rows, to_);
        body_.finish(k_[n], kOnRow);
        for (const ValueId r : k_[n].results) body_.define(r, kOnRow);
      }
    to_.instructions.indices += (slots > 1 ? kLoop : 2) * times_.packets;
    runs_of_packets(phase);
  }

  // What ends runs of the long sums that `is` holds for.
  template <class Is>
  double flushes(const Is& is) const {
    double work = 0;
    for (const NodeId n : reductions_)
      if (is_long_sum(k_, plan_, k_[n]) && is(k_[n])) work += flush_instructions(k_[k_[n].operands[0]].type.dtype);
    return work;
  }
  void runs_of_packets(int phase) {
    if (elements_of_row(form_, plan_) <= kRun) return;
    const double work = flushes([&](const Node& n) {
      ReductionDomain d;
      reduction_domain(signature(k_, n), d);
      const ValuePlan& p = of(n.results[0]);
      return p.reduction != ReductionPlan::column && p.phase == phase && per_point(n, d);
    });
    if (work == 0) return;
    const double runs = std::ceil(times_.packets / static_cast<double>(turns_of_run(form_, plan_)));
    to_.instructions.values += runs * work;
    to_.instructions.indices += runs * kLoop;
  }
  // Of sums of columns a thread has several.
  void runs_of_rows() {
    const int64_t rows = rows_of_run(k_, plan_);
    if (rows == 0) return;
    const auto of_columns = [&](const Node& n) { return of(n.results[0]).reduction == ReductionPlan::column; };
    const auto of_totals = [&](const Node& n) { return of(n.results[0]).reduction == ReductionPlan::total; };
    const int64_t slots = (plan_.columns + form_.team * form_.packet - 1) / (form_.team * form_.packet);
    const double work = flushes(of_columns) * static_cast<double>(slots * form_.packet) + flushes(of_totals);
    const double turns = times_.rows / static_cast<double>(form_.ahead);
    const double runs = std::ceil(turns / times_.launch / static_cast<double>(rows)) * times_.launch;
    to_.instructions.indices += kLoop * runs;
    to_.instructions.values += work * runs;
  }

  void add(const Node& n, int phase) {
    const Signature s = signature(k_, n);
    ReductionDomain d;
    reduction_domain(s, d);
    const ReductionPlan kind = of(n.results[0]).reduction;
    if (of(n.results[0]).phase != phase || !per_point(n, d)) return;
    body_.accumulate(n, spread_reduction(s, d, kind, plan_.space()), kOnRow | kOnColumn);
  }

  // Totals of what has one value a row, and such values.
  void finish_rows(const Turns& turns) {
    body_.enter(turns.times, turns.points, kOnRow);
    for (const NodeId n : reductions_) {
      const Signature s = signature(k_, k_[n]);
      ReductionDomain d;
      reduction_domain(s, d);
      if (per_point(k_[n], d)) continue;
      body_.accumulate(k_[n], spread_reduction(s, d, ReductionPlan::total, plan_.space()), kOnRow);
      to_.instructions.indices += 2 * times_.rows;
    }
    // One of the team stores: of a block that shares a row one warp.
    WarpTimes of_team = turns.times;
    of_team.rows /= static_cast<double>(std::max<int64_t>(1, form_.team / kLanes));
    body_.enter(of_team, turns.points, kOnRow);
    for (const ValueId v : k_.outputs)
      if (of(v).extent == Extent::row && !of(v).finishing && !is_single(plan_, of(v)))
        body_.store(v, access_of(Extent::row, plan_.space(), k_[v].type.dims));
  }

  void store_scalars() {
    const Turns one = one_thread();
    // What warps without rows have not computed.
    if (times_.launch < static_cast<double>(to_.blocks * to_.threads) / kLanes) body_.forget();
    // And what this one thread computes is not there for what follows.
    CountBody single = body_;
    single.enter(one.times, one.points, 0);
    for (const ValueId v : k_.outputs)
      if (is_single(plan_, of(v)) && !of(v).finishing)
        single.store(v, access_of(Extent::scalar, plan_.space(), k_[v].type.dims));
    single_turns_ = single.turns() - body_.turns();
    to_.instructions.indices += 3 * times_.launch;
  }

  void finish_blocks() {
    if (plan_.partials.empty()) return;
    for (const Partials& p : plan_.partials) {
      const AccumulatorWork work = work_of(p);
      if (is_column(p))
        count_put_columns(work, form_, plan_.columns, to_);
      else
        count_put_total(work, form_, to_);
    }
    count_meeting();
    for (const Partials& p : plan_.partials) {
      if (is_column(p))
        count_get_column(work_of(p), p.width, to_);
      else
        count_get_total(work_of(p), to_);
      body_.finish(k_[p.reduction], 0);
      for (const ValueId r : k_[p.reduction].results) body_.define(r, is_column(p) ? kOnRow | kOnColumn : 0);
    }
    for (const Extent extent : {Extent::scalar, Extent::column}) {
      const Turns turns = extent == Extent::scalar ? one_thread() : column_turns(plan_.columns);
      body_.enter(turns.times, turns.points, extent == Extent::scalar ? 0 : kOnRow | kOnColumn);
      for (const ValueId v : k_.outputs)
        if (of(v).finishing && of(v).extent == extent)
          body_.store(v, access_of(extent, plan_.space(), k_[v].type.dims));
    }
  }

  // All at once, or in groups and then the groups.
  void count_meeting() {
    const int64_t gather = plan_.gather > 0 ? plan_.gather : to_.blocks;
    const int64_t groups = (to_.blocks + gather - 1) / gather;
    count_meeting(to_.blocks, gather, groups);
    if (groups > 1) count_meeting(groups, groups, 1);
  }
  // `arrive` arrive at `meetings`, the largest of which is of `blocks`.
  void count_meeting(int64_t arrive, int64_t blocks, int64_t meetings) {
    count_arrival(arrive, meetings, to_);
    for (const Partials& p : plan_.partials)
      if (is_column(p)) count_add_blocks(work_of(p), blocks, meetings, p.width, to_);
  }

  AccumulatorWork work_of(const Partials& p) const {
    AccumulatorWork work = accumulator_work(k_, k_[p.reduction]);
    work.offset = p.offset;
    return work;
  }
  bool is_column(const Partials& p) const { return of(k_[p.reduction].results[0]).reduction == ReductionPlan::column; }

  const Graph& k_;
  const KernelPlan& plan_;
  const KernelForm& form_;
  KernelCounts& to_;
  CountBody body_;
  WarpTimes times_;
  double single_turns_ = 0;  // of the thread that stores single values, of loops inside a point
  std::vector<NodeId> reductions_;
};

}  // namespace

void count_rows(const Graph& k, const KernelPlan& plan, KernelCounts& to) { RowsCount(k, plan, to).run(); }

}  // namespace heddle::ir
