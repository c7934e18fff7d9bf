#include "ir/loop/loops.h"

#include "ir/check.h"

namespace heddle::ir::loop {

Statements loops_of(const Graph& k, const KernelPlan& plan) {
  switch (k.form->kind) {
    case KernelForm::Kind::pointwise: return point_loops(k, plan);
    case KernelForm::Kind::rows: return row_loops(k, plan);
    case KernelForm::Kind::tile: return tile_loops(k, plan_tile(k));
    case KernelForm::Kind::contract: return product_loops(k, plan_contract(k));
    case KernelForm::Kind::primitive: return {{CallPrimitive{k.order[0]}}};
    case KernelForm::Kind::opaque: break;
  }
  HEDDLE_CHECK(false, "a library's call has no loops");
  return {};
}

}  // namespace heddle::ir::loop
