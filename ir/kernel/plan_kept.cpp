#include "ir/kernel/plan_kept.h"

#include <algorithm>

#include "ir/kernel/access.h"
#include "ir/kernel/cost.h"

namespace heddle::ir {
namespace {

// An element this costly to compute is kept rather than computed again.
constexpr double kWorthKeeping = 4;
// What a loop inside a point counts as: always worth keeping.
constexpr double kLoopFlops = 100;

class Keeper {
 public:
  Keeper(const Graph& k, const KernelPlan& plan)
      : k_(k), plan_(plan), computed_(k.value_count()), varies_(k.value_count()) {}

  std::vector<KeptValue> keep() {
    for (phase_ = 0; phase_ < plan_.phases; ++phase_) {
      visited_.assign(k_.value_count(), {});
      for (const NodeId n : k_.order) reduction(k_[n]);
      for (const ValueId v : k_.outputs) {
        const ValuePlan& p = plan_of(v);
        if (p.extent == Extent::full && !p.finishing && p.phase == phase_)
          visit({v, access_of(Extent::full, plan_.space(), k_[v].type.dims)});
      }
    }
    return std::move(kept_);
  }

 private:
  const ValuePlan& plan_of(ValueId v) const { return plan_.values[static_cast<size_t>(v.index)]; }

  // What this pass adds up.
  void reduction(const Node& n) {
    const ValuePlan& p = plan_of(n.results[0]);
    if (p.phase != phase_ || p.reduction == ReductionPlan::none || p.reduction == ReductionPlan::inner) return;
    const Signature s = signature(k_, n);
    ReductionDomain d;
    reduction_domain(s, d);
    const ReductionAccess access = spread_reduction(s, d, p.reduction, plan_.space());
    for (size_t i = 0; i < n.operands.size(); ++i) visit({n.operands[i], access.operands[i]});
  }

  void visit(const Read& read) {
    if (read.at.extents.size() != plan_.space().size()) return;  // inside a loop of a point
    const Node* n = k_.def(read.value);
    if (n == nullptr || !varies(read) || !first_time(visited_, read) || kept(read)) return;
    auto& computed = computed_[static_cast<size_t>(read.value.index)];
    const auto earlier =
        std::find_if(computed.begin(), computed.end(), [&](const auto& known) { return known.first == read.at; });
    if (earlier == computed.end()) {
      computed.emplace_back(read.at, phase_);
    } else if (std::vector<Read> counted; flops(read, counted) >= kWorthKeeping) {
      kept_.push_back({read.value, read.at, earlier->second});
      return;
    }
    for (const Read& operand : reads_at(k_, *n, read.at)) visit(operand);
  }

  // A value per row or for all is computed outside the loop over the columns, once.
  bool varies(const Read& read) {
    if (plan_of(read.value).reduction == ReductionPlan::row) return false;
    if (k_[read.value].type.elements() == 1) return false;  // wherever guards let it be taken
    auto& known = varies_[static_cast<size_t>(read.value.index)];
    for (const auto& [at, answer] : known)
      if (at == read.at) return answer;
    const bool answer = varies_with_column(read);
    known.emplace_back(read.at, answer);
    return answer;
  }
  bool varies_with_column(const Read& read) {
    if (extent_of(read.at) != Extent::full) return false;
    const Node* n = k_.def(read.value);
    if (n == nullptr) return true;
    if (const auto* source = std::get_if<Source>(&n->op->kind))
      return source->k != nullptr || mentions(source->expr, "i");
    const std::vector<Read> reads = reads_at(k_, *n, read.at);
    return std::any_of(reads.begin(), reads.end(), [&](const Read& r) {
      const bool conditional = std::any_of(r.at.guards.begin(), r.at.guards.end(),
                                           [](const Guard& g) { return depends_on(g.expr, kColumn); });
      return conditional || varies(r);
    });
  }

  bool kept(const Read& read) const {
    return std::any_of(kept_.begin(), kept_.end(),
                       [&](const KeptValue& v) { return v.value == read.value && v.at == read.at; });
  }

  static bool first_time(std::vector<std::vector<IndexMap>>& seen, const Read& read) {
    auto& maps = seen[static_cast<size_t>(read.value.index)];
    if (std::find(maps.begin(), maps.end(), read.at) != maps.end()) return false;
    maps.push_back(read.at);
    return true;
  }

  // Of computing the element from loads and kept elements, up to what is worth keeping.
  double flops(const Read& read, std::vector<Read>& counted) {
    const Node* n = k_.def(read.value);
    if (n == nullptr || !varies(read) || kept(read)) return 0;
    for (const Read& c : counted)
      if (c.value == read.value && c.at == read.at) return 0;
    counted.push_back(read);
    if (plan_of(read.value).reduction == ReductionPlan::inner) return kLoopFlops;
    double sum = flops_per_point(*n->op);
    for (const Read& operand : reads_at(k_, *n, read.at)) {
      if (sum >= kWorthKeeping) break;
      sum += flops(operand, counted);
    }
    return sum;
  }

  const Graph& k_;
  const KernelPlan& plan_;
  int phase_ = 0;
  std::vector<std::vector<IndexMap>> visited_;                   // in this phase, by value
  std::vector<std::vector<std::pair<IndexMap, int>>> computed_;  // with the first phase, by value
  std::vector<std::vector<std::pair<IndexMap, bool>>> varies_;
  std::vector<KeptValue> kept_;
};

}  // namespace

std::vector<KeptValue> plan_kept(const Graph& k, const KernelPlan& plan) { return Keeper(k, plan).keep(); }

}  // namespace heddle::ir
