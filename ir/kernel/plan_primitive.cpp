#include "ir/kernel/plan_primitive.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/kernel/plan_reductions.h"

namespace heddle::ir {
namespace {

// A bound of the loop counters: the elements, plus one iteration of all threads. There are at most as many threads as
// elements, rounded up to whole blocks.
int64_t reach(const Graph& kernel) {
  constexpr int64_t kMostThreads = 1024;
  int64_t most = 0;
  for (ValueId v : kernel.inputs) most = std::max(most, kernel[v].type.elements());
  for (ValueId v : kernel.outputs) most = std::max(most, kernel[v].type.elements());
  return 2 * most + kMostThreads;
}

const Primitive& primitive_of(const Node& n) { return std::get<Primitive>(n.op->kind); }

PrimitivePlan joined_plan(const Graph& kernel) {
  PrimitivePlan all = primitive_of(kernel[kernel.order[0]]).plan(signature(kernel, kernel[kernel.order[0]]));
  for (size_t i = 1; i < kernel.order.size(); ++i) {
    const Node& n = kernel[kernel.order[i]];
    const PrimitivePlan one = primitive_of(n).plan(signature(kernel, n));
    all.blocks = std::max(all.blocks, one.blocks), all.workers = std::max(all.workers, one.workers);
    all.instructions += one.instructions;
    all.dependent_loads = std::max(all.dependent_loads, one.dependent_loads);
  }
  return all;
}

// The results that no other operator of the kernel reads, in order.
std::vector<ValueId> results_of(const Graph& kernel) {
  std::vector<ValueId> results;
  for (const NodeId id : kernel.order)
    for (const ValueId v : kernel[id].results)
      if (kernel[v].uses.empty()) results.push_back(v);
  return results;
}

}  // namespace

PrimitivePlan primitive_of(const Graph& kernel) {
  if (kernel.order.empty()) throw Refusal{"schedule primitive executes an operator of that kind"};
  const bool joined = kernel.order.size() > 1;
  for (const NodeId id : kernel.order) {
    const auto* primitive = std::get_if<Primitive>(&kernel[id].op->kind);
    if (primitive == nullptr || (joined && !primitive->joins))
      throw Refusal{"schedule primitive executes one operator of that kind, and nothing else"};
    if (joined && kernel[id].op != kernel[kernel.order[0]].op) throw Refusal{"operators that join are alike"};
  }
  if (kernel.outputs != results_of(kernel))
    throw Refusal{fmt::format("{} writes all of its results", kernel[kernel.order[0]].op->name)};
  return joined_plan(kernel);
}

std::vector<OverwrittenInput> overwritten_inputs(const Graph& kernel) {
  std::vector<OverwrittenInput> all;
  if (!kernel.schedule || !std::holds_alternative<schedules::Primitive>(kernel.schedule->how)) return all;
  for (size_t o = 0; o < kernel.outputs.size(); ++o) {
    ValueId v = kernel.outputs[o];
    while (const Node* n = kernel.def(v)) {
      const auto* primitive = std::get_if<Primitive>(&n->op->kind);
      if (primitive == nullptr) break;
      const auto found =
          std::ranges::find(primitive->overwrites, static_cast<size_t>(kernel[v].result_index), &Overwrite::result);
      if (found == primitive->overwrites.end()) break;
      v = n->operands[found->operand];
    }
    const auto input = std::ranges::find(kernel.inputs, v);
    if (input != kernel.inputs.end()) all.push_back({static_cast<size_t>(input - kernel.inputs.begin()), o});
  }
  return all;
}

PrimitiveBytes bytes_of_primitive(const Graph& kernel) {
  PrimitiveBytes all;
  for (const NodeId id : kernel.order) {
    const Node& n = kernel[id];
    if (const auto& own = primitive_of(n).bytes) {
      const PrimitiveBytes one = own(signature(kernel, n));
      all.read += one.read, all.written += one.written;
      continue;
    }
    for (const ValueId v : kernel.inputs) all.read += primitive_bytes(kernel, v);
    for (const ValueId v : kernel.outputs) all.written += primitive_bytes(kernel, v);
  }
  return all;
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
