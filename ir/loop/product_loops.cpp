// Form contract: a block sums up a tile of the product, or a part of it, step by step along the depth.
#include "ir/loop/loops.h"

namespace heddle::ir::loop {

Statements product_loops(const Graph& k, const ContractPlan& product) {
  Nest sums{.axis = Axis::sums};
  for (const ValueId v : k.outputs)
    sums.body.push_back({Store{v, Extent::full, access_at(product.space, product.point, k[v].type.dims)}});
  Nest tiles{.axis = Axis::products, .extents = product.space};
  tiles.body.push_back({Nest{.axis = Axis::steps,
                             .extents = {product.steps},
                             .body = {{Fill{/*left=*/true}}, {Fill{/*left=*/false}}, {Multiply{}}}}});
  if (k.form->parts == 1)
    tiles.body.push_back({std::move(sums)});
  else
    tiles.body.push_back({Nest{.axis = Axis::last_part, .extents = {k.form->parts}, .body = {{std::move(sums)}}}});
  return {{std::move(tiles)}};
}

}  // namespace heddle::ir::loop
