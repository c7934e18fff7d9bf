#include "ir/kernel/plan_primitive.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/kernel/plan_reductions.h"

namespace heddle::ir {
namespace {

// How far the counters of its loops go: over elements, and one turn of all threads beyond, of which
// there are no more, rounded up to whole blocks, than elements.
int64_t reach(const Graph& kernel) {
  constexpr int64_t kMostThreads = 1024;
  int64_t most = 0;
  for (ValueId v : kernel.inputs) most = std::max(most, kernel[v].type.elements());
  for (ValueId v : kernel.outputs) most = std::max(most, kernel[v].type.elements());
  return 2 * most + kMostThreads;
}

}  // namespace

PrimitivePlan primitive_of(const Graph& kernel) {
  const auto* primitive =
      kernel.order.size() == 1 ? std::get_if<Primitive>(&kernel[kernel.order[0]].op->kind) : nullptr;
  if (primitive == nullptr) throw Refusal{"schedule primitive executes one operator of that kind, and nothing else"};
  const Node& n = kernel[kernel.order[0]];
  if (kernel.outputs != n.results) throw Refusal{fmt::format("{} writes all of its results", n.op->name)};
  return primitive->plan(signature(kernel, n));
}

KernelPlan plan_primitive(const Graph& kernel, const schedules::Primitive& schedule) {
  const PrimitivePlan primitive = primitive_of(kernel);
  KernelPlan plan;
  plan.values.resize(kernel.value_count());
  plan.largest_index = reach(kernel);
  plan.most_blocks = std::max<int64_t>(schedule.threads == 1 ? primitive.workers : primitive.blocks, 1);
  plan.partial_bytes = primitive.scratch;
  return plan;
}

bool can_be_in_place(const Graph& kernel) {
  if (kernel.order.size() != 1) return false;
  const Node& n = kernel[kernel.order[0]];
  // What it also reads as another operand would change under it.
  return std::holds_alternative<Primitive>(n.op->kind) && n.op->find_attr(kInPlace) != nullptr &&
         std::count(n.operands.begin(), n.operands.end(), n.operands[0]) == 1;
}

bool is_in_place(const Graph& kernel) {
  if (!can_be_in_place(kernel)) return false;
  const Node& n = kernel[kernel.order[0]];
  return std::get<bool>(attribute(*n.op, n.attrs, kInPlace));
}

int64_t primitive_bytes(const Graph& kernel, ValueId v) {
  const Node& n = kernel[kernel.order[0]];
  const int64_t whole = kernel[v].type.bytes();
  if (!is_in_place(kernel) || (v != n.operands[0] && v != n.results[0])) return whole;
  return std::min(whole, kernel[n.operands.back()].type.bytes());  // a row for each update, at most
}

KernelSchedule primitive_schedule(const Graph& kernel, const Target& target) {
  const PrimitivePlan primitive = primitive_of(kernel);
  schedules::Primitive schedule;
  schedule.threads = target.gpu ? primitive.threads : 1;
  if (reach(kernel) >= target.index_limit) schedule.index = 64;
  return {.how = schedule, .workspace = primitive.scratch};
}

}  // namespace heddle::ir
