// Schedule pointwise: all threads share the points; on the host, those of each part of the columns.
#include <algorithm>

#include "ir/kernel/access.h"
#include "ir/kernel/plan_values.h"
#include "ir/kernel/schedule_def.h"
#include "ir/loop/column_parts.h"
#include "ir/loop/singles.h"

namespace heddle::ir {
namespace {

using namespace loop;  // NOLINT: this file speaks of little else

// A pointwise kernel is looped over in as few rows as let every access be affine in the column: all in one row when
// nothing but whole arrays and scalars is read.
KernelPlan plan_points(const Graph& k, const schedules::Pointwise& schedule) {
  const Dims& domain = schedule.domain;
  const auto schedule_split = static_cast<size_t>(schedule.split);
  KernelPlan chosen;
  for (size_t split = 0; split <= domain.size(); ++split) {
    const auto at = domain.begin() + static_cast<std::ptrdiff_t>(split);
    auto [plan, affine] = plan_values(k, {product({domain.begin(), at}), product({at, domain.end()})});
    if (affine) return plan;
    if (split == std::min(schedule_split, domain.size())) chosen = std::move(plan);
  }
  return chosen;
}

// Some source makes its elements from (seed, step, element), and rows are whole groups of them. No
// window is read at each: that would be read in strides. Nor is anything read under a guard: of
// guarded reads of neighbours g++ 12 makes masked vectors that take other elements, or none.
bool draws(const Graph& k, const KernelPlan& plan) {
  if (plan.columns % kDrawnAtOnce != 0 || has_reduction(plan, ReductionPlan::inner) || plan.guarded) return false;
  return std::any_of(k.order.begin(), k.order.end(), [&](NodeId n) {
    const auto* source = std::get_if<Source>(&k[n].op->kind);
    return source != nullptr && mentions(source->expr, "i");
  });
}

KernelPlan plan_pointwise(const Graph& k, const schedules::Pointwise& schedule) {
  KernelPlan plan = plan_points(k, schedule);
  plan.draws = draws(k, plan);
  plan.most_blocks = most_blocks_of_points(plan, schedule.threads, schedule.vector_width);
  return plan;
}

Statements point_loops(const Graph& k, const schedules::Pointwise& schedule, const KernelPlan& plan) {
  Statements all = singles(k, plan);
  for (const ColumnPart& part : column_parts(k, schedule, plan)) {
    const IndexMap columns{.extents = {plan.rows, part.count},
                           .results = {IndexExpr::dim(kRow), IndexExpr::dim(kColumn) + part.first},
                           .guards = {}};
    Nest points{.axis = Axis::points, .extents = columns.extents, .first = part.first, .body = {}};
    for (const ValueId v : k.outputs) {
      const IndexMap at = access_of(Extent::full, plan.space(), k[v].type.dims);
      points.body.push_back({Store{v, Extent::full, part.count == plan.columns ? at : compose(columns, at)}});
    }
    all.push_back({std::move(points)});
  }
  return all;
}

}  // namespace

const KernelScheduleDef<schedules::Pointwise>& schedules::Pointwise::def() {
  using Schedule = schedules::Pointwise;
  static const KernelScheduleDef<Schedule> def = {
      .name = "pointwise",
      .attributes = of_domain<Schedule>({{"vector_width", &Schedule::vector_width, 1, kMostThreads}}),
      .plan = plan_pointwise,
      .loops = point_loops};
  return def;
}

}  // namespace heddle::ir
