// Form pointwise: all threads share the points; on the host, those of each part of the columns.
#include "ir/loop/column_parts.h"
#include "ir/loop/loops.h"
#include "ir/loop/singles.h"

namespace heddle::ir::loop {

Statements point_loops(const Graph& k, const KernelPlan& plan) {
  Statements all = singles(k, plan);
  for (const ColumnPart& part : column_parts(k, plan)) {
    const IndexMap columns{.extents = {plan.rows, part.count},
                           .results = {IndexExpr::dim(kRow), IndexExpr::dim(kColumn) + part.first},
                           .guards = {}};
    Nest points{.axis = Axis::points, .extents = columns.extents, .first = part.first};
    for (const ValueId v : k.outputs) {
      const IndexMap at = access_of(Extent::full, plan.space(), k[v].type.dims);
      points.body.push_back({Store{v, Extent::full, part.count == plan.columns ? at : compose(columns, at)}});
    }
    all.push_back({std::move(points)});
  }
  return all;
}

}  // namespace heddle::ir::loop
