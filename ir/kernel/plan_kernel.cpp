#include <fmt/format.h>

#include <algorithm>

#include "ir/kernel/plan_contract.h"
#include "ir/kernel/plan_primitive.h"
#include "ir/kernel/plan_reductions.h"
#include "ir/kernel/plan_schedule.h"
#include "ir/kernel/plan_tile.h"
#include "ir/visit.h"

namespace heddle::ir {
namespace {

// Values at different indices that one point may need, for each operator of the kernel and beyond that: a sum of shifted
// sums of shifted sums would need twice as many with each operator.
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

// How far the counters of loops over all points go: a loop in which all threads take turns overshoots by one turn, and
// there are at most as many threads as there are points, rounded up to whole blocks. The host's loops overshoot by less
// than 16.
int64_t reach(const Dims& space) {
  constexpr int64_t kMostThreads = 1024, kMostPacket = 16;
  return 2 * product(space) + kMostThreads * kMostPacket;
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
    // What a later output needs of an earlier one may be narrower (a single row's value is a scalar to others), but it
    // is stored where it is computed.
    for (size_t i = 0; i < extents.size(); ++i) plan_of(k_.outputs[i]).extent = extents[i];
    return plan_;
  }
  // No division or remainder touches the column in any access.
  bool affine() const { return affine_; }

 private:
  std::string name(ValueId v) const { return "%" + k_[v].name; }
  bool rows_form() const { return k_.form->kind == KernelForm::Kind::rows; }
  ValuePlan& plan_of(ValueId v) { return plan_.values[static_cast<size_t>(v.index)]; }

  void see(int64_t index) { plan_.largest_index = std::max(plan_.largest_index, index); }
  void see(const IndexExpr& e, const Dims& extents) { see(magnitude(e, extents)); }

  // --- what each result needs ---

  Extent plan_output(ValueId v) {
    const int64_t count = k_[v].type.elements(), rows = space_[kRow], columns = space_[kColumn];
    const bool finishing = plan_of(v).finishing;
    Extent extent = Extent::full;
    if (finishing)
      extent = plan_of(v).extent;  // as plan_reductions says
    else if (count == rows * columns)
      extent = Extent::full;
    else if (rows_form() && (count == rows || count == 1))
      extent = count == rows ? Extent::row : Extent::scalar;
    else
      throw Refusal{
          fmt::format("{} has {} elements: not one per point of {}", name(v), count, to_string(k_.form->domain))};
    const Need got = need(v, access_of(extent, space_, k_[v].type.dims), finishing);
    plan_.phases = std::max(plan_.phases, got.phase + (extent == Extent::full && !finishing ? 1 : 0));
    plan_of(v).extent = extent;
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
    ValuePlan& p = plan_of(v);
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
    const Signature s = signature(k_, n);
    return visit_kind(
        *n.op, [&](const Source& source) { return compute_source(n, s, source, at, finishing); },
        [&](const Movement& m) { return compute_movement(n, operand_accesses(s, m, at), finishing); },
        [&](const Lookup& lookup) { return compute_lookup(n, lookup_access(s, lookup, at), finishing); },
        [&](const Elementwise&) {
          Need sum;
          for (const ValueId o : n.operands) sum = join(sum, need(o, at, finishing));
          return sum;
        },
        [&](const OneOf<Reduction, Contraction> auto&) { return compute_reduction(v, n, s, at, finishing); },
        [&](const OneOf<Primitive, Composite, Gradient, Call> auto&) -> Need {
          throw Refusal{fmt::format("{} must be expanded first", n.op->name)};
        });
  }

  Need compute_movement(const Node& n, const std::vector<IndexMap>& accesses, bool finishing) {
    Need sum;
    for (size_t i = 0; i < n.operands.size(); ++i)
      sum = join(join(sum, need(n.operands[i], accesses[i], finishing)), {extent_of(accesses[i]), 0});
    return sum;
  }

  // What depends on the bound coordinates varies as they do.
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
    const ReductionPlan plan = plan_of(v).reduction;
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
    plan_of(v).phase = sum.phase;
    // Elements that are taken point by point need a pass over the row.
    if (sum.extent == Extent::full || is_per_point(plan, d, space_))
      plan_.phases = std::max(plan_.phases, sum.phase + 1);
    if (plan == ReductionPlan::row) {
      plan_of(v).extent = Extent::row;
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
  return Planner(k, flat ? Dims{1, rows} : Dims{rows, columns}).plan();
}

// A pointwise kernel is looped over in as few rows as let every access be affine in the column: all in one row when
// nothing but whole arrays and scalars is read.
KernelPlan plan_pointwise(const Graph& k) {
  const Dims& domain = k.form->domain;
  const auto form_split = static_cast<size_t>(std::max<int64_t>(k.form->split, 0));
  KernelPlan chosen;
  for (size_t split = 0; split <= domain.size(); ++split) {
    const auto at = domain.begin() + static_cast<std::ptrdiff_t>(split);
    Planner planner(k, {product({domain.begin(), at}), product({at, domain.end()})});
    KernelPlan plan = planner.plan();
    if (planner.affine()) return plan;
    if (split == std::min(form_split, domain.size())) chosen = std::move(plan);
  }
  return chosen;
}

// Every value is computed point by point; what passes through tiles is plan_tile's to say.
KernelPlan plan_tiles(const Graph& k) {
  const TilePlan tile = plan_tile(k);
  if (!tile.ok()) throw Refusal{tile.reason};
  KernelPlan plan;
  plan.values.resize(k.value_count());
  plan.rows = tile.space[kRow] * tile.space[kMatrix];
  plan.columns = tile.space[kColumn];
  plan.largest_index = std::max(tile.largest_index, reach(tile.space));
  plan.shared_bytes = tile.shared_bytes;
  const auto tiles = [](int64_t side) { return (side + kTileSide - 1) / kTileSide; };
  plan.most_blocks = tile.space[kMatrix] * tiles(tile.space[kRow]) * tiles(tile.space[kColumn]);
  return plan;
}

// A block takes a tile of the result, or a part of its sum: the last of a tile's parts adds them in order.
KernelPlan plan_products(const Graph& k, const ContractPlan& contract) {
  constexpr int64_t kSumBytes = 4, kMostItems = int64_t{1} << 31;
  if (!contract.ok()) throw Refusal{contract.reason};
  const KernelForm& form = *k.form;
  if (std::string reason = contract_conflict(form, contract); !reason.empty()) throw Refusal{reason};
  if (contract.tiles > kMostItems / form.parts)
    throw Refusal{fmt::format("{} tiles in {} parts are more than a launch counts", contract.tiles, form.parts)};
  KernelPlan plan;
  plan.values.resize(k.value_count());
  // The sum is known in the loops over columns, where the threads have it.
  for (const ValueId v : k[contract.contraction].results)
    plan.values[static_cast<size_t>(v.index)].extent = Extent::column;
  plan.rows = contract.space[kRow] * contract.space[kProductMatrix];
  plan.columns = contract.space[kColumn];
  plan.largest_index = contract.largest_index;
  plan.shared_bytes = contract.shared_bytes;
  plan.most_blocks = contract.tiles * form.parts;
  if (form.parts == 1) return plan;
  plan.partial_bytes = plan.most_blocks * form.tile[0] * form.tile[1] * kSumBytes;
  plan.counters = contract.counters;
  return plan;
}

KernelPlan plan_form(const Graph& kernel) {
  switch (kernel.form->kind) {
    case KernelForm::Kind::pointwise: return plan_pointwise(kernel);
    case KernelForm::Kind::tile: return plan_tiles(kernel);
    case KernelForm::Kind::rows: return plan_rows(kernel);
    case KernelForm::Kind::primitive: return plan_primitive(kernel);
    case KernelForm::Kind::contract:
      if (kernel.form->impl.empty()) return plan_products(kernel, plan_contract(kernel));
      break;
    case KernelForm::Kind::opaque: break;
  }
  throw Refusal{fmt::format("form {} is not planned by rows and columns", to_string(kernel.form->kind))};
}

}  // namespace

int64_t accumulator_bytes(const Signature& s) {
  const int64_t value = std::max<int64_t>(bits(s.operands[0].dtype) / 8, is_floating(s.operands[0].dtype) ? 4 : 1);
  const auto* r = std::get_if<Reduction>(&s.op->kind);
  const bool indexed = r != nullptr && r->monoid.starts_with("Arg");
  return indexed ? 2 * std::max<int64_t>(value, 4) : value;
}

namespace {

template <class Plan>
KernelPlan scheduled(const Graph& kernel, Plan plan_of_form) {
  KernelPlan refused;
  try {
    if (!kernel.form) throw Refusal{"the kernel has no form"};
    KernelPlan plan = plan_of_form();
    plan_schedule(kernel, plan);
    return plan;
  } catch (const Refusal& r) {
    refused.reason = r.reason;
  }
  return refused;
}

}  // namespace

KernelPlan plan_kernel(const Graph& kernel) {
  return scheduled(kernel, [&] { return plan_form(kernel); });
}

KernelPlan plan_kernel(const Graph& kernel, const ContractPlan& product) {
  return scheduled(kernel, [&] { return plan_products(kernel, product); });
}

}  // namespace heddle::ir
