#include <algorithm>
#include <cmath>

#include "ir/kernel/count/count_forms.h"

namespace heddle::ir {

void count_entry(int64_t pointers, double warps, double busy, KernelCounts& to) {
  constexpr double kThread = 7, kBusy = 2;
  const auto each = static_cast<double>(pointers);
  to.instructions.indices += warps * (kThread + each) + busy * (kBusy + each);
}

void count_points(const Graph& k, const KernelPlan& plan, KernelCounts& to) {
  Turns turns = point_turns(*k.form, plan.space(), to.blocks);
  turns.times.rest = plan.columns % k.form->packet;
  turns.times.whole = plan.columns - turns.times.rest;
  const double warps = static_cast<double>(to.blocks * to.threads) / kLanes;
  turns.times.idle = warps - turns.times.launch;
  CountBody body(k, plan.space().size(), to);
  body.enter(turns.times, turns.points, kOnRow | kOnColumn);
  body.reduce_singles(plan, warps);
  body.draw_at_once(plan.draws && k.form->packet == kDrawnAtOnce);
  // What a single point writes in place is read inside its loop, of which the compiler makes two: what both need stands
  // before them.
  const bool in_place =
      std::any_of(k.outputs.begin(), k.outputs.end(), [&](ValueId v) { return k[v].place.base.valid(); });
  body.compute_before(plan.rows * plan.columns == 1 && in_place);
  count_entry(static_cast<int64_t>(k.inputs.size() + k.outputs.size()), warps, turns.times.launch, to);
  // The loop; row and column of a point; where the last packet may be part of one, branches around its elements.
  constexpr double kLoop = 4, kRowAndColumn = 4, kRestIn = 8, kRestOut = 1;
  const bool several = plan.rows > 1 && plan.columns > k.form->packet;  // packets of a row
  double each = (plan.rows * plan.columns > k.form->packet ? kLoop : 0) + (several ? kRowAndColumn : 1);
  if (plan.columns % k.form->packet != 0)
    each += kRestIn * static_cast<double>(k.inputs.size()) + kRestOut * static_cast<double>(k.outputs.size()) +
            static_cast<double>(k.form->packet);
  to.instructions.indices += each * turns.times.packets;
  for (const ValueId v : k.outputs) body.store(v, access_of(Extent::full, plan.space(), k[v].type.dims));
  to.dependent_inside = body.turns();
  to.dependent_loads = std::ceil(turns.times.packets / warps) + to.dependent_inside;
}

}  // namespace heddle::ir
