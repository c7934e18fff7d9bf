#include "ir/loop/singles.h"

#include <algorithm>
#include <set>

namespace heddle::ir::loop {
namespace {

constexpr int64_t kWarp = 32;

// The kernel's operands and values that the value is computed from.
void values_below(const Graph& k, ValueId v, std::set<ValueId>& seen) {
  if (!seen.insert(v).second) return;
  if (const Node* n = k.def(v); n != nullptr)
    for (const ValueId o : n->operands) values_below(k, o, seen);
}

// Lanes that have no point of their own do not contribute: how many did is not known.
bool needs_valid(const Reduction& reduction) {
  return std::any_of(reduction.finish.begin(), reduction.finish.end(),
                     [](const std::string& finish) { return mentions(finish, "valid"); });
}

bool spreads(const Graph& k, const KernelPlan& plan, const Node& n) {
  const auto* reduction = std::get_if<Reduction>(&n.op->kind);
  if (plan.of(n.results[0]).reduction != ReductionPlan::inner || plan.of(n.results[0]).finishing) return false;
  if (k[n.results[0]].type.elements() != 1 || (reduction != nullptr && needs_valid(*reduction))) return false;
  const Signature s = signature(k, n);
  ReductionDomain storage;
  const ReductionDomain* d = reduction_domain(s, storage);
  if (d == nullptr || product(d->extents) < kWarp) return false;
  std::set<ValueId> below;
  for (const ValueId o : n.operands) values_below(k, o, below);
  return std::none_of(below.begin(), below.end(),
                      [&](ValueId v) { return is_overwritten(k, v) || plan.of(v).reduction != ReductionPlan::none; });
}

}  // namespace

Statements singles(const Graph& k, const KernelPlan& plan) {
  Statements all;
  if (generated(*k.schedule).threads < kWarp) return all;
  for (const NodeId n : k.order) {
    if (!spreads(k, plan, k[n])) continue;
    for (const ValueId v : k[n].results)
      if (!k[v].uses.empty() || k.is_output(v)) all.push_back({Single{v, access_at(plan.space(), 0, k[v].type.dims)}});
  }
  return all;
}

}  // namespace heddle::ir::loop
