#include "ir/kernel/plan_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/ceil_div.h"
#include "ir/kernel/access.h"
#include "ir/kernel/plan_reductions.h"
#include "ir/visit.h"

namespace heddle::ir {
namespace {

// The most values at different indices that one point may need: kMostReads per operator of the kernel, plus kFreeReads.
// A sum of shifted sums of shifted sums needs twice as many with each operator.
constexpr size_t kMostReads = 16, kFreeReads = 1024;

// Inner reductions longer than this would be repeated by every thread or block that needs their one result.
constexpr int64_t kMaxRepeated = 1024;

struct Need {
  Extent extent = Extent::scalar;
  int phase = 0;
};

Need join(const Need& a, const Need& b) {
  const auto rank = [](Extent e) { return e == Extent::full ? 2 : e == Extent::row ? 1 : 0; };
  return {rank(a.extent) >= rank(b.extent) ? a.extent : b.extent, std::max(a.phase, b.phase)};
}

// Plans the kernel over one space. Throws Refusal.
class Planner {
 public:
  Planner(const Graph& k, const Dims& space) : k_(k), space_(space) {
    plan_.values.resize(k.value_count());
    plan_.rows = space[kRow];
    plan_.columns = space[kColumn];
    plan_.largest_index = reach(space);
    known_.resize(2 * k.value_count());
  }

  KernelPlan plan() {
    plan_reductions(k_, space_, plan_);
    std::vector<Extent> extents;
    for (const ValueId v : k_.outputs) extents.push_back(plan_output(v));
    // A later output may need a narrower extent of an earlier output (the value of a single row is a scalar for
    // others), but an output is stored where it is computed.
    for (size_t i = 0; i < extents.size(); ++i) plan_.of(k_.outputs[i]).extent = extents[i];
    return plan_;
  }
  // No division or remainder touches the column in any access.
  bool affine() const { return affine_; }

 private:
  std::string name(ValueId v) const { return "%" + k_[v].name; }
  bool rows_schedule() const { return std::holds_alternative<schedules::Rows>(k_.schedule->how); }

  void see(int64_t index) { plan_.largest_index = std::max(plan_.largest_index, index); }
  void see(const IndexExpr& e, const Dims& extents) { see(magnitude(e, extents)); }

  // --- what each result needs ---

  Extent plan_output(ValueId v) {
    const int64_t count = k_[v].type.elements(), rows = space_[kRow], columns = space_[kColumn];
    const bool finishing = plan_.of(v).finishing;
    Extent extent = Extent::full;
    if (finishing)
      extent = plan_.of(v).extent;  // as plan_reductions says
    else if (plan_.of(v).reduction == ReductionPlan::row)
      extent = Extent::row;  // of rows of one element, too: it is known behind the pass, not at its points
    else if (count == rows * columns)
      extent = Extent::full;
    else if (rows_schedule() && (count == rows || count == 1))
      extent = count == rows ? Extent::row : Extent::scalar;
    else
      throw Refusal{fmt::format("{} has {} elements: not one per point of {}", name(v), count,
                                to_string(over_domain(*k_.schedule)->domain))};
    const Need got = need(v, access_of(extent, space_, k_[v].type.dims), finishing);
    plan_.phases = std::max(plan_.phases, got.phase + (extent == Extent::full && !finishing ? 1 : 0));
    plan_.of(v).extent = extent;
    return extent;
  }

  Need need(ValueId v, const IndexMap& wanted, bool finishing) {
    const IndexMap at = computed_at(wanted, k_[v].type.dims);
    auto& known = known_[2 * static_cast<size_t>(v.index) + (finishing ? 1 : 0)];
    for (const auto& [access, answer] : known)
      if (access == at) return answer;
    if (++reads_ > kFreeReads + kMostReads * k_.order.size())
      throw Refusal{fmt::format("{} is needed at too many indices", name(v))};
    const Node* n = k_.def(v);
    for (const Guard& g : at.guards) see(g.expr, at.extents);
    const Need answer = n == nullptr ? load(v, at) : compute(v, *n, at, finishing);
    known.emplace_back(at, answer);
    ValuePlan& p = plan_.of(v);
    if (p.reduction == ReductionPlan::none || p.reduction == ReductionPlan::inner)
      p.phase = std::max(p.phase, answer.phase);
    if (n != nullptr && !p.finishing && p.reduction != ReductionPlan::row) p.extent = answer.extent;
    return answer;
  }

  Need load(ValueId v, const IndexMap& at) {
    const auto affine = [](const IndexExpr& e) { return coefficient(e, kColumn).affine; };
    const IndexExpr linear = linear_offset(at, k_[v].type.dims);
    see(linear, at.extents);
    affine_ = affine_ && affine(linear);
    for (const Guard& g : at.guards) affine_ = affine_ && affine(g.expr);
    plan_.guarded = plan_.guarded || !at.guards.empty();
    return {extent_of(at), 0};
  }

  Need compute(ValueId v, const Node& n, const IndexMap& at, bool finishing) {
    const auto s = [&] { return signature(k_, n); };
    return visit_kind(
        *n.op, [&](const Source& source) { return compute_source(n, s(), source, at, finishing); },
        [&](const Movement& m) { return compute_movement(n, operand_accesses(s(), m, at), finishing); },
        [&](const Lookup& lookup) { return compute_lookup(n, lookup_access(s(), lookup, at), finishing); },
        [&](const Elementwise&) {
          Need sum;
          for (const ValueId o : n.operands) sum = join(sum, need(o, at, finishing));
          return sum;
        },
        [&](const OneOf<Reduction, Contraction> auto&) { return compute_reduction(v, n, s(), at, finishing); },
        [&](const OneOf<Primitive, Composite, Gradient, Call, Scan> auto&) -> Need {
          throw Refusal{fmt::format("{} must be decomposed first", n.op->name)};
        });
  }

  Need compute_movement(const Node& n, const std::vector<IndexMap>& accesses, bool finishing) {
    Need sum;
    for (size_t i = 0; i < n.operands.size(); ++i)
      sum = join(join(sum, need(n.operands[i], accesses[i], finishing)), {extent_of(accesses[i]), 0});
    return sum;
  }

  // A value that depends on bound coordinates varies as their indices do.
  Need compute_lookup(const Node& n, const LookupAccess& access, bool finishing) {
    Need sum;
    for (const IndexMap& at : access.indices)
      sum = join(join(sum, need(n.operands[1], at, finishing)), {extent_of(at), 0});
    for (const int64_t extent : access.bound) see(extent);
    return join(join(sum, need(n.operands[0], access.element, finishing)), {extent_of(access.element), 0});
  }

  Need compute_source(const Node& n, const Signature& s, const Source& source, const IndexMap& at, bool finishing) {
    const IndexExpr k = source_k(s, source, at);
    see(k, at.extents);
    Need sum{extent_of(k), 0};
    if (mentions(source.expr, "i")) {
      const IndexExpr linear = linear_offset(at, s.results[0].dims);
      see(linear, at.extents);
      sum = join(sum, {extent_of(linear), 0});
    }
    for (size_t i = 0; i < n.operands.size(); ++i)
      sum = join(sum, need(n.operands[i], access_at(at.extents, 0, s.operands[i].dims), finishing));
    return sum;
  }

  Need compute_reduction(ValueId v, const Node& n, const Signature& s, const IndexMap& at, bool finishing) {
    ReductionDomain d;
    reduction_domain(s, d);
    const ReductionPlan plan = plan_.of(v).reduction;
    if (plan == ReductionPlan::inner) return compute_inner(v, n, s, d, at, finishing);
    const IndexExpr linear = linear_offset(at, s.results[0].dims);
    if (plan == ReductionPlan::row) {
      if (finishing) throw Refusal{fmt::format("{} is one per row, but the last block needs it", name(v))};
      if (at.extents.size() > 2 || (linear != IndexExpr::dim(kRow) && space_[kRow] > 1))
        throw Refusal{fmt::format("{} is one per row, but is needed at other rows", name(v))};
    } else {
      if (!finishing) throw Refusal{fmt::format("{} is complete only when all blocks are", name(v))};
      if (at.extents.size() > 2 ||
          (plan == ReductionPlan::column && space_[kColumn] > 1 && linear != IndexExpr::dim(kColumn)))
        throw Refusal{fmt::format("{} is one per column, but is needed at other columns", name(v))};
    }
    const ReductionAccess access = spread_reduction(s, d, plan, space_);
    see(access.k, space_);
    Need sum{Extent::scalar, 0};
    for (size_t i = 0; i < n.operands.size(); ++i) sum = join(sum, need(n.operands[i], access.operands[i], false));
    plan_.of(v).phase = sum.phase;
    // Elements that are taken point by point need a pass over the row.
    if (sum.extent == Extent::full || is_per_point(plan, d, space_))
      plan_.phases = std::max(plan_.phases, sum.phase + 1);
    if (plan == ReductionPlan::row) {
      plan_.of(v).extent = Extent::row;
      return {space_[kRow] == 1 ? Extent::scalar : Extent::row, sum.phase + 1};
    }
    return {plan == ReductionPlan::column ? Extent::full : Extent::scalar, 0};
  }

  Need compute_inner(ValueId v, const Node& n, const Signature& s, const ReductionDomain& d, const IndexMap& at,
                     bool finishing) {
    if (at.extents.size() > 2) throw Refusal{fmt::format("{} is reduced inside another reduction's loop", name(v))};
    const ReductionAccess access = inner_reduction(s, d, at);
    see(access.k, access.operands[0].extents);
    for (const int64_t points : access.loops) see(points);
    if (s.results[0].elements() == 1) see(product(d.extents));
    Need sum;
    for (size_t i = 0; i < n.operands.size(); ++i)
      sum = join(join(sum, need(n.operands[i], access.operands[i], finishing)), {extent_of(access.operands[i]), 0});
    if (sum.extent == Extent::scalar && space_[kRow] * space_[kColumn] > 1 && product(d.extents) > kMaxRepeated)
      throw Refusal{fmt::format("{} reduces {} elements: every block would repeat it", name(v), product(d.extents))};
    return join(sum, {extent_of(access.k), 0});
  }

  const Graph& k_;
  Dims space_;
  KernelPlan plan_;
  std::vector<std::vector<std::pair<IndexMap, Need>>> known_;
  size_t reads_ = 0;
  bool affine_ = true;
};

}  // namespace

// A loop that all threads share overshoots by one iteration, and there are at most as many threads as points, rounded
// up to whole blocks. The host's loops overshoot by less than 16.
int64_t reach(const Dims& space) {
  constexpr int64_t kMostThreads = 1024, kMostPacket = 16;
  return 2 * product(space) + kMostThreads * kMostPacket;
}

ValuesPlan plan_values(const Graph& kernel, const Dims& space) {
  Planner planner(kernel, space);
  KernelPlan plan = planner.plan();
  return {std::move(plan), planner.affine()};
}

namespace {

// The number of blocks for `items` of `points` points each, if a block takes at least `abreast` items.
int64_t most_blocks(int64_t items, int64_t points, int64_t abreast, int64_t threads) {
  constexpr int64_t kWorkersPoints = 1024;
  return std::max<int64_t>(ceil_div(items, std::max(abreast, ceil_div(threads == 1 ? kWorkersPoints : 1, points))), 1);
}

}  // namespace

int64_t most_blocks_of_points(const KernelPlan& plan, int64_t threads, int64_t packet) {
  return most_blocks(plan.rows * ceil_div(plan.columns, packet), packet, threads, threads);
}
int64_t most_blocks_of_rows(const KernelPlan& plan, int64_t threads, int64_t team) {
  return most_blocks(plan.rows, std::max<int64_t>(plan.columns, 1), threads / team, threads);
}

}  // namespace heddle::ir
