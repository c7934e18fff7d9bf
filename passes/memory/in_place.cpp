#include "passes/memory/in_place.h"

#include <algorithm>

#include "ir/check.h"
#include "ir/kernel/plan_kernel.h"
#include "ir/kernel/plan_primitive.h"
#include "ir/kernel/schedule_def.h"
#include "ir/op_def.h"
#include "ir/scan.h"
#include "ir/visit.h"

namespace heddle::passes {
using namespace ir;

namespace {

bool is_reshape(const Graph& k, const Node& n) {
  const auto* movement = std::get_if<Movement>(&n.op->kind);
  if (!movement || n.operands.size() != 1) return false;
  const Dims &result = k[n.results[0]].type.dims, &operand = k[n.operands[0]].type.dims;
  return product(result) == product(operand) && movement->maps(signature(k, n))[0] == reshape_map(result, operand);
}

// The values that are computed at the index at which `input` is read. `ok` is false if a node reads one of them at
// another index.
struct SameIndex {
  std::vector<char> values;
  bool ok = true;
};

SameIndex same_index(const Graph& k, const KernelPlan& plan, ValueId input) {
  SameIndex same{std::vector<char>(k.value_count(), 0)};
  const auto at = [&](ValueId v) -> char& { return same.values[static_cast<size_t>(v.index)]; };
  at(input) = 1;
  for (NodeId id : k.order) {
    const Node& n = k[id];
    if (std::none_of(n.operands.begin(), n.operands.end(), [&](ValueId v) { return at(v); })) continue;
    const auto passes_on = [&](bool passes) {
      same.ok = same.ok && passes;
      if (passes)
        for (ValueId r : n.results) at(r) = 1;
    };
    visit_kind(
        *n.op, [&](const Elementwise&) { passes_on(true); }, [&](const Movement&) { passes_on(is_reshape(k, n)); },
        [&](const Reduction&) {
          const ReductionPlan how = plan.of(n.results[0]).reduction;
          // In a reduction over rows or columns of the domain each thread reads its own elements. An inner loop also
          // reads those of other threads.
          if (how == ReductionPlan::inner || how == ReductionPlan::none) same.ok = false;
        },
        [&](const OneOf<Source, Lookup, Contraction, Primitive, Composite, Gradient, Call, Scan> auto&) {
          same.ok = false;
        });
  }
  return same;
}

// Whether only one thread reads an element of `input`, and does so before it stores that of `output`. This holds in two
// cases: all values computed from `input` have one element, and the same thread computes them at the same time; or only
// `output` is computed from it, and one thread of the last block finishes each column.
bool one_thread_reads(const Graph& k, const KernelPlan& plan, ValueId input, ValueId output) {
  const bool column = plan.of(output).finishing && plan.of(output).extent == Extent::column;
  if (!std::holds_alternative<schedules::Rows>(k.schedule->how) || (!column && !is_single(plan, plan.of(output))))
    return false;
  std::vector<char> reached(k.value_count(), 0);
  const auto at = [&](ValueId v) -> char& { return reached[static_cast<size_t>(v.index)]; };
  at(input) = 1;
  for (NodeId id : k.order) {
    const Node& n = k[id];
    if (std::none_of(n.operands.begin(), n.operands.end(), [&](ValueId v) { return at(v); })) continue;
    for (ValueId r : n.results) {
      if (!std::holds_alternative<Elementwise>(n.op->kind) || (!column && !is_single(plan, plan.of(r)))) return false;
      at(r) = 1;
    }
  }
  return at(output) && std::all_of(k.outputs.begin(), k.outputs.end(), [&](ValueId v) {
           return !at(v) || v == output || (!column && plan.of(v).finishing == plan.of(output).finishing);
         });
}

bool planned_can_write_over(const Graph& k, ValueId input, ValueId output, KernelPlans& plans) {
  const auto [known, is_new] = plans.try_emplace(k.name);
  if (is_new) known->second = plan_kernel(k);
  const KernelPlan& plan = known->second;
  if (!plan.ok()) return false;
  if (one_thread_reads(k, plan, input, output)) return true;
  const ValuePlan& written = plan.of(output);
  if (written.extent != Extent::full || written.phase + 1 < plan.phases) return false;
  const SameIndex same = same_index(k, plan, input);
  return same.ok && same.values[static_cast<size_t>(output.index)] != 0;
}

}  // namespace

bool kernel_can_write_over(const Graph& k, ValueId input, ValueId output, KernelPlans& plans) {
  if (!k.schedule || k[input].type.dims != k[output].type.dims || !k[output].def.valid()) return false;
  switch (traits_of(*k.schedule).writes_over) {
    case WritesOver::nothing: return false;
    case WritesOver::operand:
      return can_be_in_place(k) && input == k[k.order[0]].operands[0] && output == k[k.order[0]].results[0];
    case WritesOver::planned: return planned_can_write_over(k, input, output, plans);
  }
  HEDDLE_CHECK(false, "not a place of a result");
}

bool can_write_over(const Module& m, const Graph& g, const Node& n, size_t operand, size_t result, KernelPlans& plans) {
  if (g[n.operands[operand]].type.dims != g[n.results[result]].type.dims) return false;
  if (std::holds_alternative<Elementwise>(n.op->kind)) return true;
  if (is_scan(n)) return starts_carry(m, n, operand, result);
  const Graph* k = n.callee.empty() ? nullptr : m.find_kernel(n.callee);
  return k != nullptr && kernel_can_write_over(*k, k->inputs[operand], k->outputs[result], plans);
}

}  // namespace heddle::passes
