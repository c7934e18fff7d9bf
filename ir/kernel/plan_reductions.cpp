#include "ir/kernel/plan_reductions.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "ir/kernel/access.h"
#include "ir/visit.h"

namespace heddle::ir {
namespace {

class ReductionPlanner {
 public:
  ReductionPlanner(const Graph& k, const Dims& space, KernelPlan& plan)
      : k_(k), rows_(std::get_if<schedules::Rows>(&k.schedule->how)), space_(space), plan_(plan) {}

  void classify(const Node& n) {
    const bool decomposed = visit_kind(
        *n.op, [](const OneOf<Source, Elementwise, Movement, Lookup, Reduction, Contraction> auto&) { return true; },
        [](const OneOf<Primitive, Composite, Gradient, Call, Scan> auto&) { return false; });
    if (!decomposed) throw Refusal{fmt::format("{} must be decomposed first", n.op->name)};
    if (!is_reduction(*n.op)) return inherit_finishing(n);
    ReductionPlan plan = rows_ != nullptr ? spread_plan(n) : ReductionPlan::inner;
    if ((plan == ReductionPlan::column || plan == ReductionPlan::total) && !only_finished(n.results[0])) {
      const bool one_row = plan == ReductionPlan::total && space_[kRow] == 1;
      plan = one_row ? ReductionPlan::row : ReductionPlan::inner;
    }
    for (const ValueId r : n.results) {
      plan_.of(r).reduction = plan;
      if (plan == ReductionPlan::column || plan == ReductionPlan::total)
        set_finishing(r, plan == ReductionPlan::column ? Extent::column : Extent::scalar);
    }
  }

 private:
  void inherit_finishing(const Node& n) {
    for (const ValueId v : n.operands)
      if (plan_.of(v).finishing)
        for (const ValueId r : n.results) set_finishing(r, plan_.of(v).extent);
  }

  // A single element may belong to the only column. It is then known with that column, which is later than totals.
  void set_finishing(ValueId v, Extent from) {
    ValuePlan& p = plan_.of(v);
    const bool column = from == Extent::column || (p.finishing && p.extent == Extent::column);
    p.finishing = true;
    p.extent = column || k_[v].type.elements() > 1 ? Extent::column : Extent::scalar;
  }

  ReductionPlan spread_plan(const Node& n) {
    const Signature s = signature(k_, n);
    ReductionDomain d;
    reduction_domain(s, d);
    const int64_t results = s.results[0].elements(), points = product(d.extents);
    const int64_t rows = space_[kRow], columns = space_[kColumn];
    if (rows * columns == 1) return ReductionPlan::inner;  // nobody to share one point with, nothing to wait for
    const bool total_first = rows == 1 && rows_->blocks > 0;
    std::vector<ReductionPlan> fits;
    for (const IndexMap& m : d.maps)
      if (!m.guards.empty()) return ReductionPlan::inner;
    if (total_first && results == 1 && points == columns) fits.push_back(ReductionPlan::total);
    if (results == rows && points == columns) fits.push_back(ReductionPlan::row);
    if (results == columns && points == rows && rows > 1) fits.push_back(ReductionPlan::column);
    if (results == 1 && rows > 1 && (points == rows * columns || points == rows)) fits.push_back(ReductionPlan::total);
    for (const ReductionPlan p : fits)
      if (reads_in_place(s, d, p)) return p;
    return fits.empty() || rows == columns ? ReductionPlan::inner : fits.front();
  }

  // Whether the reduction reads its first operand at the points where the kernel computes it: per element, or per row.
  bool reads_in_place(const Signature& s, const ReductionDomain& d, ReductionPlan plan) const {
    const IndexMap at = spread_reduction(s, d, plan, space_).operands[0];
    const IndexExpr linear = linear_offset(at, s.operands[0].dims);
    const bool per_row = s.operands[0].elements() == space_[kRow] && linear == IndexExpr::dim(kRow);
    return per_row || linear == linear_offset(identity_map(space_), space_);
  }

  // Whether all values computed from this one have its number of elements and are no reductions.
  bool only_finished(ValueId first) const {
    std::vector<char> seen(k_.value_count(), 0);  // many paths lead through a chain of x * x
    std::vector<ValueId> open{first};
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      if (std::exchange(seen[index_of(v)], 1)) continue;
      for (const NodeId u : k_[v].uses) {
        const Node& user = k_[u];
        if (is_reduction(*user.op)) return false;
        for (const ValueId r : user.results)
          if (k_[r].type.elements() != k_[v].type.elements()) return false;
        open.insert(open.end(), user.results.begin(), user.results.end());
      }
    }
    return true;
  }

  const Graph& k_;
  const schedules::Rows* rows_;  // the schedule, where it is this one
  const Dims& space_;
  KernelPlan& plan_;
};

}  // namespace

void plan_reductions(const Graph& k, const Dims& space, KernelPlan& plan) {
  ReductionPlanner planner(k, space, plan);
  for (const NodeId n : k.order) planner.classify(k[n]);
}

bool is_per_point(ReductionPlan plan, const ReductionDomain& d, const Dims& space) {
  return plan != ReductionPlan::total || space[kRow] == 1 || product(d.extents) == product(space);
}

}  // namespace heddle::ir
