#include "ir/index/own_rows.h"

#include <algorithm>
#include <map>

#include "ir/builder.h"
#include "ir/copy_node.h"
#include "ir/gradient_flow.h"
#include "ir/scan.h"
#include "ir/visit.h"

namespace heddle::ir {
namespace {

// How an array contains the number of the row: coordinate `axis` is (outer * rows + row) * inner + rest. kNone: the
// array does not depend on the row.
struct RowAxis {
  static constexpr int64_t kNone = -1;
  int64_t axis = kNone;
  int64_t inner = 1;
  bool operator==(const RowAxis&) const = default;
};
constexpr RowAxis kFirst{0, 1};

constexpr int kRow = 0;  // coordinates of the maps below: the row, then all others

// The map from (row, others ...) to the coordinates of a result, followed by coordinates with the extents `further`.
IndexMap to_result(const Dims& dims, const RowAxis& at, int64_t rows, const Dims& further) {
  IndexMap map{.extents = {rows}, .results = {}, .guards = {}};
  const auto other = [&](int64_t extent) {
    map.extents.push_back(extent);
    return IndexExpr::dim(static_cast<int>(map.extents.size()) - 1);
  };
  for (int64_t d = 0; d < std::ssize(dims); ++d) {
    const int64_t size = dims[static_cast<size_t>(d)];
    if (d != at.axis) {
      map.results.push_back(other(size));
      continue;
    }
    IndexExpr e = IndexExpr::dim(kRow) * at.inner;
    if (size != rows * at.inner) e = e + other(size / (rows * at.inner)) * (rows * at.inner);
    if (at.inner != 1) e = e + other(at.inner);
    map.results.push_back(e);
  }
  for (const int64_t extent : further) map.results.push_back(other(extent));
  return map;
}

class Rows {
 public:
  Rows(const std::vector<Graph>& bodies, int64_t rows) : bodies_(bodies), rows_(rows) {}

  // A backward search from the result. go_back returns false if rows are mixed, at the node `where`.
  struct Search {
    const Graph& g;
    std::vector<char> reached;
    std::map<ValueId, RowAxis> found = {};
    std::optional<NodeId> where = {};

    bool is_reached(ValueId v) const { return reached[static_cast<size_t>(v.index)] != 0; }
    // Records the row axis of a value. False if derivatives reach the value and it has no row axis, or two different
    // ones.
    bool put(ValueId v, const std::optional<RowAxis>& at) {
      if (!is_reached(v)) return true;
      return at && at->axis != RowAxis::kNone && found.emplace(v, *at).first->second == *at;
    }
  };

  bool go_back(Search& s) const {
    for (size_t i = s.g.order.size(); i-- > 0;) {
      const NodeId id = s.g.order[i];
      const Node& n = s.g[id];
      if (std::none_of(n.results.begin(), n.results.end(), [&](ValueId r) { return s.found.contains(r); })) continue;
      if (through(s, n)) continue;
      s.where = id;
      return false;
    }
    return true;
  }

 private:
  bool through(Search& s, const Node& n) const {
    if (n.op->decomposition && std::holds_alternative<Composite>(n.op->kind)) return through_composite(s, n);
    if (is_scan(n)) return through_scan(s, n);
    const Signature applied = signature(s.g, n);
    const Values by = differentiable_operands(n);
    for (size_t r = 0; r < n.results.size(); ++r) {
      const auto at = s.found.find(n.results[r]);
      if (at == s.found.end()) continue;
      for (size_t i = 0; i < n.operands.size(); ++i) {
        const ValueId v = n.operands[i];
        if (!s.is_reached(v) || std::find(by.begin(), by.end(), v) == by.end()) continue;
        if (!s.put(v, operand(applied, r, i, at->second))) return false;
      }
    }
    return true;
  }

  std::optional<RowAxis> operand(const Signature& s, size_t result, size_t operand, const RowAxis& at) const {
    const Dims& dims = s.results[result].dims;
    return visit_kind(
        *s.op, [&](const Elementwise&) -> std::optional<RowAxis> { return at; },
        [&](const Movement& movement) { return read(dims, at, movement.maps(s)[operand], {}); },
        [&](const Lookup& lookup) -> std::optional<RowAxis> {
          if (operand != 0) return std::nullopt;
          const LookupDomain domain = lookup.domain(s);
          return read(dims, at, domain.map, domain.extents);
        },
        [&](const OneOf<Reduction, Contraction> auto& sum) -> std::optional<RowAxis> {
          const ReductionDomain domain = sum.domain(s);
          return read(dims, at, domain.maps[operand], domain.extents);
        },
        [&](const Primitive&) -> std::optional<RowAxis> { return along_an_axis(s, result, operand, at); },
        // The gradient of a column: its rows were checked when the gradient was made.
        [&](const Gradient&) -> std::optional<RowAxis> {
          if (at != kFirst || s.operands[0].rank() == 0) return std::nullopt;
          return at;
        },
        [](const OneOf<Source, Composite, Call, Scan> auto&) -> std::optional<RowAxis> { return std::nullopt; });
  }

  // `map` takes the coordinates of the result, then those of `further`.
  std::optional<RowAxis> read(const Dims& result, const RowAxis& at, const IndexMap& map, const Dims& further) const {
    const IndexMap whole = compose(to_result(result, at, rows_, further), map);
    for (const Guard& guard : whole.guards)
      if (depends_on(guard.expr, kRow)) return std::nullopt;
    RowAxis found;
    for (int64_t d = 0; d < std::ssize(whole.results); ++d) {
      const IndexExpr& e = whole.results[static_cast<size_t>(d)];
      if (!depends_on(e, kRow)) continue;
      const Coefficient factor = coefficient(e, kRow);
      if (found.axis != RowAxis::kNone || !factor.affine || factor.value < 1) return std::nullopt;
      // Besides the row, the coordinate may contain multiples of all rows, and numbers smaller than a row.
      const IndexExpr rest = e - IndexExpr::dim(kRow) * factor.value;
      const Range within = range(modulo(rest, rows_ * factor.value, whole.extents), whole.extents);
      if (within.low < 0 || within.high >= factor.value) return std::nullopt;
      found = {d, factor.value};
    }
    return found;
  }

  // Primitives along one axis, such as prefix sums: lines are independent, so any other axis may be the rows.
  std::optional<RowAxis> along_an_axis(const Signature& s, size_t result, size_t operand, const RowAxis& at) const {
    const Key* axis = s.op->find_attr("axis");
    const Type& type = s.results[result];
    if (axis == nullptr || axis->type != KeyType::integer || axis->count != Count::one) return std::nullopt;
    if (s.operands[operand].dims != type.dims || normal_axis(s.integer("axis"), type.rank()) == at.axis)
      return std::nullopt;
    return at;
  }

  bool through_composite(Search& s, const Node& n) const {
    Graph parts;
    Values inputs;
    for (const ValueId v : n.operands) inputs.push_back(parts.add_input(s.g[v].name, s.g[v].type, Role::none));
    const Node whole = parts[copy_node(parts, s.g, n, inputs)];
    Builder b(parts);
    const Values made = n.op->decomposition(b, whole);
    Values varying;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (s.is_reached(n.operands[i])) varying.push_back(inputs[i]);
    Search inner{parts, reached_by_derivatives(parts, varying)};
    for (size_t r = 0; r < made.size(); ++r)
      if (const auto at = s.found.find(n.results[r]); at != s.found.end() && !inner.put(made[r], at->second))
        return false;
    if (!go_back(inner)) return false;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (const auto at = inner.found.find(inputs[i]); at != inner.found.end() && !s.put(n.operands[i], at->second))
        return false;
    return true;
  }

  // A body's carries have their rows first; what is sliced or stacked has the turns before them.
  bool through_scan(Search& s, const Node& n) const {
    const auto named = std::find_if(bodies_.begin(), bodies_.end(), [&](const Graph& g) { return g.name == n.callee; });
    if (named == bodies_.end()) return false;
    const Graph& body = *named;
    const std::vector<ValueId> carries = inputs_with(body, Role::carry), inputs = operand_inputs(body);
    Search inner{body, reached_in_turns(s, n, body, inputs, carries)};
    for (const ValueId v : carries)
      if (!inner.put(v, kFirst) || !inner.put(next_of(body, v), kFirst)) return false;
    for (size_t r = 0; r < n.results.size(); ++r) {
      const auto at = s.found.find(n.results[r]);
      if (at == s.found.end()) continue;
      const bool fits = r < carries.size() ? at->second == kFirst
                                           : inner.put(body.outputs[r - carries.size()], moved(at->second, -1));
      if (!fits) return false;
    }
    if (!go_back(inner)) return false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto at = inner.found.find(inputs[i]);
      if (at == inner.found.end()) continue;
      const bool slice = body[inputs[i]].role == Role::slice;
      if (!s.put(n.operands[i], slice ? moved(at->second, 1) : at->second)) return false;
    }
    return true;
  }

  static RowAxis moved(const RowAxis& at, int64_t by) {
    return at.axis == RowAxis::kNone || at.axis + by < 0 ? RowAxis{} : RowAxis{at.axis + by, at.inner};
  }

  // A carry that starts as a constant varies where its next value does.
  static std::vector<char> reached_in_turns(const Search& s, const Node& n, const Graph& body,
                                            const std::vector<ValueId>& inputs, const std::vector<ValueId>& carries) {
    Values varying;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (s.is_reached(n.operands[i]) && is_floating(body[inputs[i]].type.dtype)) varying.push_back(inputs[i]);
    while (true) {
      std::vector<char> reached = reached_by_derivatives(body, varying);
      const size_t before = varying.size();
      for (const ValueId v : carries)
        if (!reached[static_cast<size_t>(v.index)] && reached[static_cast<size_t>(next_of(body, v).index)])
          varying.push_back(v);
      if (varying.size() == before) return reached;
    }
  }

  const std::vector<Graph>& bodies_;
  int64_t rows_;
};

// Where the rows were mixed: behind what only spreads and names the outcome.
NodeId mixed_at(const Graph& g, const std::vector<char>& reached, NodeId at) {
  while (true) {
    const Node& n = g[at];
    const auto moves = visit_kind(
        *n.op, [](const OneOf<Elementwise, Movement> auto&) { return true; },
        [](const OneOf<Source, Lookup, Reduction, Contraction, Primitive, Composite, Gradient, Call, Scan> auto&) {
          return false;
        });
    if (!moves) return at;
    const auto from = std::find_if(n.operands.begin(), n.operands.end(), [&](ValueId v) {
      return reached[static_cast<size_t>(v.index)] && g[v].type.elements() < g[n.results[0]].type.elements();
    });
    if (from == n.operands.end() || g.def(*from) == nullptr) return at;
    at = g[*from].def;
  }
}

}  // namespace

std::optional<NodeId> mixes_rows(const Graph& g, const std::vector<Graph>& bodies, ValueId u, ValueId x) {
  const int64_t rows = g[u].type.dims.at(0);
  if (rows == 1 || u == x) return std::nullopt;
  Rows::Search search{g, reached_by_derivatives(g, {x})};
  search.put(u, kFirst);
  if (!Rows(bodies, rows).go_back(search)) return mixed_at(g, search.reached, *search.where);
  const auto at = search.found.find(x);
  // Rows of something else that is as long: nothing is known of it.
  if (at != search.found.end() && (at->second != kFirst || g[x].type.dims.at(0) != rows)) return g[u].def;
  return std::nullopt;
}

}  // namespace heddle::ir
