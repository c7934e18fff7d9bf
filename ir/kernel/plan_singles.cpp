#include "ir/kernel/plan_singles.h"

#include <algorithm>
#include <set>

#include "ir/kernel/access.h"

namespace heddle::ir {
namespace {

constexpr int64_t kWarp = 32;

// The kernel's operands and values that the value is computed from.
void values_below(const Graph& k, ValueId v, std::set<ValueId>& seen) {
  if (!seen.insert(v).second) return;
  if (const Node* n = k.def(v); n != nullptr)
    for (const ValueId o : n->operands) values_below(k, o, seen);
}

bool overwritten(const Graph& k, ValueId v) {
  return std::any_of(k.outputs.begin(), k.outputs.end(), [&](ValueId out) { return k[out].place.base == v; });
}

// Lanes that have no point of their own do not contribute: how many did is not known.
bool needs_valid(const Reduction& reduction) {
  return std::any_of(reduction.finish.begin(), reduction.finish.end(),
                     [](const std::string& finish) { return mentions(finish, "valid"); });
}

bool spreads(const Graph& k, const KernelPlan& plan, const Node& n) {
  const auto plan_of = [&](ValueId v) { return plan.values[static_cast<size_t>(v.index)]; };
  const auto* reduction = std::get_if<Reduction>(&n.op->kind);
  if (plan_of(n.results[0]).reduction != ReductionPlan::inner || plan_of(n.results[0]).finishing) return false;
  if (k[n.results[0]].type.elements() != 1 || (reduction != nullptr && needs_valid(*reduction))) return false;
  const Signature s = signature(k, n);
  ReductionDomain storage;
  const ReductionDomain* d = reduction_domain(s, storage);
  if (d == nullptr || product(d->extents) < kWarp) return false;
  std::set<ValueId> below;
  for (const ValueId o : n.operands) values_below(k, o, below);
  return std::none_of(below.begin(), below.end(),
                      [&](ValueId v) { return overwritten(k, v) || plan_of(v).reduction != ReductionPlan::none; });
}

}  // namespace

std::vector<NodeId> plan_singles(const Graph& kernel, const KernelPlan& plan) {
  std::vector<NodeId> singles;
  if (kernel.form->threads < kWarp) return singles;
  std::copy_if(kernel.order.begin(), kernel.order.end(), std::back_inserter(singles),
               [&](NodeId n) { return spreads(kernel, plan, kernel[n]); });
  return singles;
}

}  // namespace heddle::ir
