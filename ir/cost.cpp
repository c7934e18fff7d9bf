#include "ir/cost.h"

#include "ir/op_def.h"

namespace heddle::ir {
namespace {

// Operations of one node: a contraction counts a product and a sum per point of its domain, a reduction its own figure
// per point, everything else its figure per result element.
double node_flops(const Graph& g, const Node& n) {
  double elements = 0;
  for (ValueId r : n.results) elements += static_cast<double>(g[r].type.elements());
  if (const auto* c = std::get_if<Contraction>(&n.op->kind))
    return 2 * elements * static_cast<double>(product(c->domain(signature(g, n)).extents));
  if (std::holds_alternative<Movement>(n.op->kind)) return 0;
  if (const auto* r = std::get_if<Reduction>(&n.op->kind)) {
    double points = static_cast<double>(g[n.results[0]].type.elements());
    return n.op->flops * points * static_cast<double>(product(r->domain(signature(g, n)).extents));
  }
  return n.op->flops * elements;
}

}  // namespace

Cost kernel_cost(const Graph& kernel, const Target& target) {
  Cost cost;
  for (ValueId v : kernel.inputs) cost.bytes_read += kernel[v].type.bytes();
  for (ValueId v : kernel.outputs) cost.bytes_written += kernel[v].type.bytes();
  bool library = kernel.form && !kernel.form->impl.empty();
  for (NodeId n : kernel.order) cost.flops += node_flops(kernel, kernel[n]);
  int64_t bytes = cost.bytes_read + cost.bytes_written;
  double bandwidth = bytes <= target.cache_bytes ? target.cache_bandwidth : target.bandwidth;
  double rate = library ? target.matrix_flops : target.flops;
  cost.seconds = std::max(static_cast<double>(bytes) / bandwidth, cost.flops / rate) + target.launch;
  return cost;
}

}  // namespace heddle::ir
