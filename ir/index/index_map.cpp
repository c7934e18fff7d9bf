#include "ir/index/index_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/check.h"

namespace heddle::ir {
namespace {

// `e` over new coordinates: each old one replaced by its expression.
IndexExpr substitute(const IndexExpr& e, const std::vector<IndexExpr>& coordinates, const Dims& extents) {
  IndexExpr sum(e.constant);
  for (const IndexTerm& t : e.terms) {
    IndexExpr value;
    if (t.kind == IndexTerm::Kind::dim) {
      HEDDLE_CHECK(static_cast<size_t>(t.dim) < coordinates.size(), "index map refers to an unknown coordinate");
      value = coordinates[static_cast<size_t>(t.dim)];
    } else {
      const IndexExpr x = substitute(t.inner[0], coordinates, extents);
      value = t.kind == IndexTerm::Kind::floor_div ? floor_div(x, t.divisor, extents) : modulo(x, t.divisor, extents);
    }
    sum = sum + value * t.coefficient;
  }
  return simplify(sum, extents);
}

// The coordinates themselves; those that can only be 0 are 0.
class Unit {
 public:
  explicit Unit(const Dims& extents) : extents_(extents) {}

  IndexExpr of(const IndexExpr& e) {
    const auto plain = [](const IndexTerm& t) { return t.kind == IndexTerm::Kind::dim; };
    if (!std::all_of(e.terms.begin(), e.terms.end(), plain)) return substitute(e, coordinates(), extents_);
    IndexExpr sum(e.constant);
    for (const IndexTerm& t : e.terms) {
      HEDDLE_CHECK(static_cast<size_t>(t.dim) < extents_.size(), "index map refers to an unknown coordinate");
      if (extents_[static_cast<size_t>(t.dim)] != 1) sum.terms.push_back(t);
    }
    return sum;
  }

 private:
  const std::vector<IndexExpr>& coordinates() {
    for (size_t d = coordinates_.size(); d < extents_.size(); ++d)
      coordinates_.push_back(extents_[d] == 1 ? IndexExpr(0) : IndexExpr::dim(static_cast<int>(d)));
    return coordinates_;
  }

  const Dims& extents_;
  std::vector<IndexExpr> coordinates_;
};

}  // namespace

bool IndexMap::contains(const Dims& coordinates) const {
  return std::all_of(guards.begin(), guards.end(), [&](const Guard& g) {
    const int64_t value = evaluate(g.expr, coordinates);
    return g.low <= value && value < g.high;
  });
}

Dims IndexMap::apply(const Dims& coordinates) const {
  Dims out;
  for (const IndexExpr& e : results) out.push_back(evaluate(e, coordinates));
  return out;
}

void IndexMap::add_guard(const IndexExpr& e, int64_t low, int64_t high) {
  const Range r = range(e, extents);
  if (low <= r.low && r.high < high) return;
  for (Guard& g : guards) {
    if (g.expr != e) continue;
    g.low = std::max(g.low, low);
    g.high = std::min(g.high, high);
    return;
  }
  guards.push_back({e, low, high});
}

IndexMap identity_map(const Dims& extents) {
  IndexMap map{.extents = extents, .results = {}, .guards = {}};
  for (size_t d = 0; d < extents.size(); ++d) map.results.push_back(IndexExpr::dim(static_cast<int>(d)));
  return map;
}

IndexMap reshape_map(const Dims& result, const Dims& operand) {
  IndexMap map{.extents = result, .results = {}, .guards = {}};
  const IndexExpr linear = linear_offset(identity_map(result), result);
  const Dims strides = row_major_strides(operand);
  for (size_t d = 0; d < operand.size(); ++d)
    map.results.push_back(
        modulo(floor_div(linear, std::max<int64_t>(strides[d], 1), result), std::max<int64_t>(operand[d], 1), result));
  return map;
}

IndexMap compose(const IndexMap& outer, const IndexMap& inner) {
  HEDDLE_CHECK(outer.results.size() == inner.extents.size(), "index maps of different rank composed");
  IndexMap map{.extents = outer.extents, .results = {}, .guards = {}};
  Unit unit(outer.extents);
  std::vector<IndexExpr> middle;
  for (const IndexExpr& e : outer.results) middle.push_back(unit.of(e));
  for (const Guard& g : outer.guards) map.add_guard(unit.of(g.expr), g.low, g.high);
  for (const IndexExpr& e : inner.results) map.results.push_back(substitute(e, middle, outer.extents));
  for (const Guard& g : inner.guards) map.add_guard(substitute(g.expr, middle, outer.extents), g.low, g.high);
  return map;
}

IndexExpr linear_offset(const IndexMap& map, const Dims& operand) {
  HEDDLE_CHECK(map.results.size() == operand.size(), "index map of another rank than its operand");
  Unit unit(map.extents);
  const Dims strides = row_major_strides(operand);
  IndexExpr sum;
  for (size_t d = 0; d < operand.size(); ++d) sum = sum + unit.of(map.results[d]) * strides[d];
  return simplify(sum, map.extents);
}

std::string to_string(const IndexMap& map) {
  std::string from, to, conditions;
  for (size_t d = 0; d < map.extents.size(); ++d) from += fmt::format("{}d{}", d > 0 ? ", " : "", d);
  for (const IndexExpr& e : map.results) to += (to.empty() ? "" : ", ") + to_string(e);
  for (const Guard& g : map.guards)
    conditions +=
        fmt::format("{}{} <= {} < {}", conditions.empty() ? " if " : " and ", g.low, to_string(g.expr), g.high);
  return fmt::format("({}) -> ({}){}", from, to, conditions);
}

bool depends_on(const IndexMap& at, int d) {
  const auto depends = [d](const IndexExpr& e) { return depends_on(e, d); };
  return std::any_of(at.results.begin(), at.results.end(), depends) ||
         std::any_of(at.guards.begin(), at.guards.end(), [&](const Guard& g) { return depends(g.expr); });
}

}  // namespace heddle::ir
