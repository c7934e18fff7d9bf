// Form contract: a block sums up a tile of the product, or a part of it, step by step along the depth.
#include <fmt/format.h>

#include "ir/kernel/form_def.h"
#include "ir/kernel/plan_contract.h"
#include "ir/kernel/plan_reductions.h"

namespace heddle::ir {

using namespace loop;  // NOLINT: this file speaks of little else

// A block takes a tile of the result, or a part of its sum: the last of a tile's parts adds them in order.
KernelPlan plan_products(const Graph& k, const ContractPlan& contract) {
  constexpr int64_t kSumBytes = 4, kMostItems = int64_t{1} << 31;
  if (!contract.ok()) throw Refusal{contract.reason};
  const KernelForm& form = *k.form;
  if (std::string reason = contract_conflict(form, contract); !reason.empty()) throw Refusal{reason};
  if (contract.tiles > kMostItems / form.parts)
    throw Refusal{fmt::format("{} tiles in {} parts are more than a launch counts", contract.tiles, form.parts)};
  KernelPlan plan;
  plan.values.resize(k.value_count());
  // The sum is known in the loops over columns, where the threads have it.
  for (const ValueId v : k[contract.contraction].results)
    plan.values[static_cast<size_t>(v.index)].extent = Extent::column;
  plan.rows = contract.space[kRow] * contract.space[kProductMatrix];
  plan.columns = contract.space[kColumn];
  plan.largest_index = contract.largest_index;
  plan.shared_bytes = contract.shared_bytes;
  plan.most_blocks = contract.tiles * form.parts;
  if (form.parts == 1) return plan;
  plan.partial_bytes = plan.most_blocks * form.tile[0] * form.tile[1] * kSumBytes;
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
  if (k.form->parts == 1)
    tiles.body.push_back({std::move(sums)});
  else
    tiles.body.push_back({Nest{.axis = Axis::last_part, .extents = {k.form->parts}, .body = {{std::move(sums)}}}});
  return {{std::move(tiles)}};
}

namespace {

KernelPlan plan_without_library(const Graph& k) {
  if (calls_library(k)) throw Refusal{"form contract is not planned by rows and columns"};
  return plan_products(k, plan_contract(k));
}

const RegisterForm contract({.kind = KernelForm::Kind::contract,
                             .name = "contract",
                             .plan = plan_without_library,
                             .loops = [](const Graph& k, const KernelPlan&) {
                               return product_loops(k, plan_contract(k));
                             }});

}  // namespace
}  // namespace heddle::ir
