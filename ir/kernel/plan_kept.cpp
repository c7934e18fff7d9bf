#include "ir/kernel/plan_kept.h"

#include <algorithm>

#include "ir/kernel/cost.h"
#include "ir/loop/loops.h"

namespace heddle::ir {
namespace {

// An element of at least this many operations is kept instead of computed again.
constexpr double kWorthKeeping = 4;
// The operations that count for a loop inside a point. It is always worth keeping.
constexpr double kLoopFlops = 100;

class Keeper {
 public:
  Keeper(const Graph& k, const KernelPlan& plan)
      : k_(k), plan_(plan), computed_(k.value_count()), varies_(k.value_count()) {}

  std::vector<KeptValue> keep(const loop::Statements& loops) {
    for (const loop::Statement& s : loops) {
      const auto* nest = std::get_if<loop::Nest>(&s.what);
      if (nest != nullptr && nest->axis == loop::Axis::columns)
        pass(*nest);
      else if (nest != nullptr)
        keep(nest->body);
    }
    return kept_;
  }

 private:
  // Visits the elements that a pass adds up and stores.
  void pass(const loop::Nest& columns) {
    phase_ = columns.pass;
    visited_.assign(k_.value_count(), {});
    for (const loop::Statement& s : columns.body) {
      if (const auto* store = std::get_if<loop::Store>(&s.what)) visit({store->value, store->at});
      const auto* add = std::get_if<loop::Accumulate>(&s.what);
      if (add == nullptr) continue;
      const std::vector<ValueId>& operands = k_[add->reduction].operands;
      for (size_t i = 0; i < operands.size(); ++i) visit({operands[i], add->element.operands[i]});
    }
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

  // Whether the value changes with the column. Other values are computed once, outside the loop over columns.
  bool varies(const Read& read) {
    if (plan_.of(read.value).reduction == ReductionPlan::row) return false;
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

  // The operations that compute the element from loads and kept elements. Counting stops at kWorthKeeping.
  double flops(const Read& read, std::vector<Read>& counted) {
    const Node* n = k_.def(read.value);
    if (n == nullptr || !varies(read) || kept(read)) return 0;
    for (const Read& c : counted)
      if (c.value == read.value && c.at == read.at) return 0;
    counted.push_back(read);
    if (plan_.of(read.value).reduction == ReductionPlan::inner) return kLoopFlops;
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

std::vector<KeptValue> plan_kept(const Graph& k, const KernelPlan& plan) {
  return Keeper(k, plan).keep(loop::loops_of(k, plan));
}

}  // namespace heddle::ir
