#include "ir/cost.h"

#include "ir/op_def.h"

namespace heddle::ir {
namespace {

// Points that one result element sums or compares; 1 for what is no reduction.
double domain_points(const Graph& k, const Node& n) {
  const std::function<ReductionDomain(const Signature&)>* domain = nullptr;
  if (const auto* c = std::get_if<Contraction>(&n.op->kind)) domain = &c->domain;
  if (const auto* r = std::get_if<Reduction>(&n.op->kind)) domain = &r->domain;
  return domain ? static_cast<double>(product((*domain)(signature(k, n)).extents)) : 1;
}

// How often the elements of each value are computed: a kernel that reads a value of its own at other points, as a
// window does, computes it anew for each. Counts a value once for all readers at equal points.
class Evaluations {
 public:
  explicit Evaluations(const Graph& k) : k_(k), count_(k.value_count(), 0) {
    for (ValueId v : k.outputs) raise(v, elements(v));
    for (auto it = k.order.rbegin(); it != k.order.rend(); ++it) visit(k[*it]);
  }
  double of(const Node& n) const {
    double most = 0;
    for (ValueId r : n.results) most = std::max(most, count_[static_cast<size_t>(r.index)]);
    return most;
  }

 private:
  double elements(ValueId v) const { return static_cast<double>(k_[v].type.elements()); }
  void raise(ValueId v, double count) {
    double& known = count_[static_cast<size_t>(v.index)];
    known = std::max(known, count);
  }

  void visit(const Node& n) {
    double count = of(n);
    double points = domain_points(k_, n);
    for (ValueId v : n.operands) {
      // A movement that repeats an element, as a broadcast does, computes it once.
      bool moves = std::holds_alternative<Movement>(n.op->kind);
      raise(v, moves ? std::min(count, count / elements(n.results[0]) * elements(v)) : count * points);
    }
  }

  const Graph& k_;
  std::vector<double> count_;
};

// Operations for one element of a node's results: a product and a sum per point of a contraction.
double flops_per_element(const Graph& k, const Node& n) {
  if (std::holds_alternative<Movement>(n.op->kind)) return 0;
  if (std::holds_alternative<Contraction>(n.op->kind)) return 2 * domain_points(k, n);
  return n.op->flops * domain_points(k, n);
}

}  // namespace

Cost kernel_cost(const Graph& kernel, const Target& target) {
  Cost cost;
  for (ValueId v : kernel.inputs) cost.bytes_read += kernel[v].type.bytes();
  for (ValueId v : kernel.outputs) cost.bytes_written += kernel[v].type.bytes();
  Evaluations evaluations(kernel);
  for (NodeId n : kernel.order) cost.flops += evaluations.of(kernel[n]) * flops_per_element(kernel, kernel[n]);
  bool library = kernel.form && !kernel.form->impl.empty();
  int64_t bytes = cost.bytes_read + cost.bytes_written;
  double bandwidth = bytes <= target.cache_bytes ? target.cache_bandwidth : target.bandwidth;
  double rate = library ? target.matrix_flops : target.flops;
  cost.seconds = std::max(static_cast<double>(bytes) / bandwidth, cost.flops / rate) + target.launch;
  return cost;
}

}  // namespace heddle::ir
