#include "passes/fuse/domain.h"

#include <set>

#include "ir/kernel/access.h"
#include "ir/visit.h"

namespace heddle::passes {

using namespace ir;

std::vector<bool> reduced_axes(const Graph& g, const Node& n) {
  const auto* reduction = std::get_if<Reduction>(&n.op->kind);
  if (!reduction || n.operands.size() != 1) return {};
  ReductionDomain domain = reduction->domain(signature(g, n));
  const IndexMap& map = domain.maps[0];
  const Type& operand = g[n.operands[0]].type;
  int64_t kept = g[n.results[0]].type.rank();
  if (!map.guards.empty()) return {};
  std::vector<bool> reduced;
  for (size_t d = 0; d < operand.dims.size(); ++d) {
    const IndexExpr& e = map.results[d];
    bool coordinate = e.constant == 0 && e.terms.size() == 1 && e.terms[0].kind == IndexTerm::Kind::dim &&
                      e.terms[0].coefficient == 1 &&
                      map.extents[static_cast<size_t>(e.terms[0].dim)] == operand.dims[d];
    if (!coordinate) return {};
    reduced.push_back(e.terms[0].dim >= kept);
  }
  return reduced;
}

namespace {

// The places where dimensions of an iteration space must stay separate. A cut is the number of elements behind it:
// [8,26,26,32] cut before the last dimension is {32}. In this form, cuts of values with different shapes are
// comparable.
class Cuts {
 public:
  explicit Cuts(int64_t elements) : elements_(elements) {}

  void all(const Dims& dims) {
    for (size_t i = 1; i < dims.size(); ++i) at(dims, i);
  }
  // Adds a cut between neighbouring dimensions that differ in `flag`.
  template <class Flags>
  void where_differs(const Dims& dims, const Flags& flag) {
    size_t last = dims.size();  // the last dimension of more than one element
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] == 1) continue;
      if (last < dims.size() && flag[i] != flag[last]) at(dims, i);
      last = i;
    }
  }
  // The merged dimensions; nullopt if the cuts contradict each other.
  std::optional<Dims> domain() const {
    Dims result;
    int64_t outer = elements_;
    for (auto it = inner_.rbegin(); it != inner_.rend(); ++it) {
      if (outer % *it != 0) return std::nullopt;
      result.push_back(outer / *it);
      outer = *it;
    }
    result.push_back(outer);
    return result;
  }

 private:
  void at(const Dims& dims, size_t i) {
    int64_t inner = 1;
    for (size_t d = i; d < dims.size(); ++d) inner *= dims[d];
    if (inner > 1 && inner < elements_) inner_.insert(inner);
  }

  int64_t elements_;
  std::set<int64_t> inner_;
};

void cut_movement(Cuts& cuts, const Graph& k, const Node& n) {
  const Dims& result = k[n.results[0]].type.dims;
  std::vector<IndexMap> maps = std::get<Movement>(n.op->kind).maps(signature(k, n));
  const Dims& operand = k[n.operands[0]].type.dims;
  bool same_elements = maps.size() == 1 && product(operand) == product(result);
  if (same_elements && maps[0] == reshape_map(result, operand)) return;
  if (const auto runs = maps.size() == 1 ? runs_of(maps[0], operand) : std::nullopt)
    cuts.where_differs(result, *runs);
  else
    cuts.all(result);
}

}  // namespace

std::optional<Dims> merged_domain(const Graph& k, int64_t elements) {
  Cuts cuts(elements);
  for (NodeId id : k.order) {
    const Node& n = k[id];
    std::vector<bool> reduced = reduced_axes(k, n);
    const Dims& result = k[n.results[0]].type.dims;
    if (!reduced.empty() && k[n.operands[0]].type.elements() == elements) {
      cuts.where_differs(k[n.operands[0]].type.dims, reduced);
    } else if (k[n.results[0]].type.elements() == elements) {
      visit_kind(
          *n.op, [&](const Movement&) { cut_movement(cuts, k, n); },
          [&](const OneOf<Lookup, Reduction, Contraction> auto&) { cuts.all(result); },
          [&](const Source& source) {
            if (source.k) cuts.all(result);
          },
          [](const OneOf<Elementwise, Primitive, Composite, Gradient, Call, Scan> auto&) {});
    }
  }
  return cuts.domain();
}

}  // namespace heddle::passes
