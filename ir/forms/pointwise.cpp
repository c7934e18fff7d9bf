// Form pointwise: all threads share the points; on the host, those of each part of the columns.
#include "ir/kernel/form_def.h"
#include "ir/kernel/plan_values.h"
#include "ir/loop/column_parts.h"
#include "ir/loop/singles.h"

namespace heddle::ir {
namespace {

using namespace loop;  // NOLINT: this file speaks of little else

// A pointwise kernel is looped over in as few rows as let every access be affine in the column: all in one row when
// nothing but whole arrays and scalars is read.
KernelPlan plan_pointwise(const Graph& k) {
  const Dims& domain = k.form->domain;
  const auto form_split = static_cast<size_t>(std::max<int64_t>(k.form->split, 0));
  KernelPlan chosen;
  for (size_t split = 0; split <= domain.size(); ++split) {
    const auto at = domain.begin() + static_cast<std::ptrdiff_t>(split);
    auto [plan, affine] = plan_values(k, {product({domain.begin(), at}), product({at, domain.end()})});
    if (affine) return plan;
    if (split == std::min(form_split, domain.size())) chosen = std::move(plan);
  }
  return chosen;
}

Statements point_loops(const Graph& k, const KernelPlan& plan) {
  Statements all = singles(k, plan);
  for (const ColumnPart& part : column_parts(k, plan)) {
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

const RegisterForm pointwise(
    {.kind = KernelForm::Kind::pointwise, .name = "pointwise", .plan = plan_pointwise, .loops = point_loops});

}  // namespace
}  // namespace heddle::ir
