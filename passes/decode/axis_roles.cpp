#include "passes/decode/axis_roles.h"

#include <algorithm>

#include "ir/visit.h"

namespace heddle::passes {
using namespace ir;

namespace {

// Coordinates of the maps below: the row, the token, then the other axes of the result and what is reduced.
constexpr int kRow = 0, kToken = 1;

IndexExpr expression(AxisRole role, int64_t extent, const AxisSizes& sizes, int& next) {
  IndexExpr row = IndexExpr::dim(kRow), token = IndexExpr::dim(kToken);
  switch (role) {
    case AxisRole::rows: return row;
    case AxisRole::tokens: return token;
    case AxisRole::rows_tokens: return row * sizes.tokens + token;
    case AxisRole::tokens_rows: return token * sizes.rows + row;
    case AxisRole::rows_others: return row * (extent / sizes.rows) + IndexExpr::dim(next++);
    case AxisRole::other: break;
  }
  return IndexExpr::dim(next++);
}

// The map from (row, token, others ...) to the coordinates of the result, followed by `further` ones.
IndexMap to_result(const Dims& dims, const AxisRoles& roles, const Dims& further, const AxisSizes& sizes) {
  IndexMap map{.extents = {sizes.rows, sizes.tokens}, .results = {}, .guards = {}};
  int next = 2;
  for (size_t d = 0; d < dims.size(); ++d) {
    map.results.push_back(expression(roles[d], dims[d], sizes, next));
    if (roles[d] == AxisRole::other) map.extents.push_back(dims[d]);
    if (roles[d] == AxisRole::rows_others) map.extents.push_back(dims[d] / sizes.rows);
  }
  for (const int64_t extent : further) {
    map.results.push_back(IndexExpr::dim(next++));
    map.extents.push_back(extent);
  }
  return map;
}

std::optional<AxisRole> role_of(const IndexExpr& e, int64_t extent, const AxisSizes& sizes) {
  if (!depends_on(e, kRow) && !depends_on(e, kToken)) return AxisRole::other;
  int none = 2;
  for (const AxisRole role : {AxisRole::rows, AxisRole::tokens, AxisRole::rows_tokens, AxisRole::tokens_rows})
    if (e == expression(role, extent, sizes, none)) return role;
  if (!sizes.with_others || extent % sizes.rows != 0) return std::nullopt;
  const IndexExpr rest = e - IndexExpr::dim(kRow) * (extent / sizes.rows);
  if (depends_on(rest, kRow) || depends_on(rest, kToken)) return std::nullopt;
  return AxisRole::rows_others;
}

class Operand {
 public:
  Operand(const Dims& result, const AxisRoles& roles, const AxisSizes& sizes)
      : result_(result), roles_(roles), sizes_(sizes) {}

  // `map` takes the coordinates of the result, then those of `further`, to an operand of these sizes.
  std::optional<AxisRoles> through(const IndexMap& map, const Dims& further, const Dims& operand) const {
    const IndexMap whole = compose(to_result(result_, roles_, further, sizes_), map);
    const bool guarded = std::any_of(whole.guards.begin(), whole.guards.end(), [](const Guard& guard) {
      return depends_on(guard.expr, kRow) || depends_on(guard.expr, kToken);
    });
    if (guarded) return std::nullopt;
    AxisRoles found;
    int rows = 0, tokens = 0;
    for (size_t d = 0; d < whole.results.size(); ++d) {
      const auto role = role_of(whole.results[d], operand[d], sizes_);
      if (!role) return std::nullopt;
      found.push_back(*role);
      rows += has_rows({*role}) ? 1 : 0;
      tokens += has_tokens({*role}) ? 1 : 0;
    }
    if (rows > 1 || tokens > 1) return std::nullopt;  // a diagonal
    return found;
  }

 private:
  const Dims& result_;
  const AxisRoles& roles_;
  const AxisSizes& sizes_;
};

}  // namespace

bool has_tokens(const AxisRoles& roles) {
  return std::any_of(roles.begin(), roles.end(), [](AxisRole role) {
    return role != AxisRole::other && role != AxisRole::rows && role != AxisRole::rows_others;
  });
}

bool has_rows(const AxisRoles& roles) {
  return std::any_of(roles.begin(), roles.end(),
                     [](AxisRole role) { return role != AxisRole::other && role != AxisRole::tokens; });
}

std::optional<AxisRoles> operand_roles(const Graph& g, const Node& n, size_t result, size_t operand,
                                       const AxisRoles& roles, const AxisSizes& sizes) {
  const Signature s = signature(g, n);
  const Operand of(s.results[result].dims, roles, sizes);
  const Dims& dims = s.operands[operand].dims;
  return visit_kind(
      *n.op, [&](const Elementwise&) -> std::optional<AxisRoles> { return roles; },
      [&](const Movement& movement) { return of.through(movement.maps(s)[operand], {}, dims); },
      [&](const Lookup& lookup) {
        const LookupDomain domain = lookup.domain(s);
        if (operand == 0) return of.through(domain.map, domain.extents, dims);
        std::optional<AxisRoles> all = of.through(domain.indices[0], {}, dims);
        for (const IndexMap& map : domain.indices)
          if (of.through(map, {}, dims) != all) all.reset();
        return all;
      },
      [&](const OneOf<Reduction, Contraction> auto& sum) -> std::optional<AxisRoles> {
        const ReductionDomain domain = sum.domain(s);
        if (domain.k) return std::nullopt;
        return of.through(domain.maps[operand], domain.extents, dims);
      },
      [](const OneOf<Source, Primitive, Composite, Gradient, Call, Scan> auto&) -> std::optional<AxisRoles> {
        return std::nullopt;
      });
}

}  // namespace heddle::passes
