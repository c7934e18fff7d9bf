// Schedule contract without a library: a block sums up a tile of the product, or a part of it, step by
// step along the depth.
#include <fmt/format.h>

#include "ir/kernel/plan_contract.h"
#include "ir/kernel/plan_reductions.h"
#include "ir/kernel/schedule_def.h"

namespace heddle::ir {

using namespace loop;  // NOLINT: this file speaks of little else

// A block takes a tile of the result, or a part of its sum. The last block of a tile adds the parts in order.
KernelPlan plan_products(const Graph& k, const ContractPlan& contract) {
  constexpr int64_t kSumBytes = 4, kMostItems = int64_t{1} << 31;
  if (!contract.ok()) throw Refusal{contract.reason};
  const auto& schedule = std::get<schedules::Product>(k.schedule->how);
  if (std::string reason = contract_conflict(schedule, contract); !reason.empty()) throw Refusal{reason};
  if (contract.tiles > kMostItems / schedule.split_k)
    throw Refusal{fmt::format("{} tiles in {} parts are more than a launch counts", contract.tiles, schedule.split_k)};
  KernelPlan plan;
  plan.values.resize(k.value_count());
  // The sum is known in the loops over columns, where the threads have it.
  for (const ValueId v : k[contract.contraction].results) plan.of(v).extent = Extent::column;
  plan.rows = contract.space[kRow] * contract.space[kProductMatrix];
  plan.columns = contract.space[kColumn];
  plan.largest_index = contract.largest_index;
  plan.shared_bytes = contract.shared_bytes;
  plan.most_blocks = contract.tiles * schedule.split_k;
  if (schedule.split_k == 1) return plan;
  plan.partial_bytes = plan.most_blocks * schedule.tile[0] * schedule.tile[1] * kSumBytes;
  plan.counters = contract.counters;
  return plan;
}

Statements product_loops(const Graph& k, const ContractPlan& product) {
  Nest sums{.axis = Axis::sums, .body = {}};
  for (const ValueId v : k.outputs)
    sums.body.push_back({Store{v, Extent::full, access_at(product.space, product.point, k[v].type.dims)}});
  Nest tiles{.axis = Axis::products, .extents = product.space, .body = {}};
  tiles.body.push_back({Nest{.axis = Axis::steps,
                             .extents = {product.steps},
                             .body = {{Fill{/*left=*/true}}, {Fill{/*left=*/false}}, {Multiply{}}}}});
  const int64_t parts = std::get<schedules::Product>(k.schedule->how).split_k;
  if (parts == 1)
    tiles.body.push_back({std::move(sums)});
  else
    tiles.body.push_back({Nest{.axis = Axis::last_part, .extents = {parts}, .body = {{std::move(sums)}}}});
  return {{std::move(tiles)}};
}

const KernelScheduleDef<schedules::Product>& schedules::Product::def() {
  using Schedule = schedules::Product;
  static const KernelScheduleDef<Schedule> def = {
      .name = "contract",
      .attributes = of_domain<Schedule>({{"vector_width", &Schedule::vector_width, 1, kMostThreads},
                                         {"tile", &Schedule::tile},
                                         {"stages", &Schedule::stages, 1, 8},
                                         {"split_k", &Schedule::split_k, 1, kMostAtOnce},
                                         {"precision", &Schedule::precision}}),
      .plan = [](const Graph& k, const Schedule&) { return plan_products(k, plan_contract(k)); },
      .loops = [](const Graph& k, const Schedule&, const KernelPlan&) { return product_loops(k, plan_contract(k)); },
      .traits = {.points_as_they_lie = false}};
  return def;
}

}  // namespace heddle::ir
