#include "ir/kernel/product_dims.h"

#include <algorithm>

namespace heddle::ir {
namespace {

bool uses(const IndexMap& map, int coordinate) {
  const auto in = [&](const IndexExpr& e) { return depends_on(e, coordinate); };
  return std::any_of(map.results.begin(), map.results.end(), in) ||
         std::any_of(map.guards.begin(), map.guards.end(), [&](const Guard& g) { return in(g.expr); });
}

// Appends the divisor of each quotient through which `e` reads the coordinate; 0 for every other use of the coordinate.
void add_divisors(const IndexExpr& e, int coordinate, std::vector<int64_t>& divisors) {
  for (const IndexTerm& t : e.terms) {
    if (t.kind == IndexTerm::Kind::dim) {
      if (t.dim == coordinate) divisors.push_back(0);
      continue;
    }
    const bool quotient = t.kind == IndexTerm::Kind::floor_div && t.inner[0] == IndexExpr::dim(coordinate);
    if (quotient)
      divisors.push_back(t.divisor);
    else
      add_divisors(t.inner[0], coordinate, divisors);
  }
}

// The number by which the map divides the coordinate in all of its uses; 0 if there is no such number.
int64_t divisor(const IndexMap& map, int coordinate) {
  std::vector<int64_t> divisors;
  for (const IndexExpr& e : map.results) add_divisors(e, coordinate, divisors);
  for (const Guard& g : map.guards) add_divisors(g.expr, coordinate, divisors);
  const bool equal = std::adjacent_find(divisors.begin(), divisors.end(), std::not_equal_to<>()) == divisors.end();
  const int64_t extent = map.extents[static_cast<size_t>(coordinate)];
  return !divisors.empty() && equal && divisors[0] > 1 && extent % divisors[0] == 0 ? divisors[0] : 0;
}

void classify(ProductDims& dims, const IndexMap& left, const IndexMap& right, int coordinate) {
  const int64_t extent = left.extents[static_cast<size_t>(coordinate)];
  const Factor whole{coordinate, 1, extent};
  if (!uses(right, coordinate)) return dims.rows.push_back(whole);
  if (!uses(left, coordinate)) return dims.columns.push_back(whole);
  const int64_t by_left = divisor(left, coordinate), by_right = divisor(right, coordinate);
  const int64_t by = by_left != 0 ? by_left : by_right;
  if (by == 0) return dims.matrices.push_back(whole);
  dims.matrices.push_back({coordinate, by, extent / by});
  (by_left != 0 ? dims.columns : dims.rows).push_back({coordinate, 1, by});
}

// Neighbours in a side's memory become neighbouring rows (columns), where they are not neighbours along the depth.
void order_by_memory(Factors& factors, const Factors& depth, const IndexExpr& linear) {
  const auto neighbours = [&](const Factor& f) {
    const Coefficient c = coefficient(linear, f.coordinate);
    return f.extent > 1 && f.multiplier == 1 && c.affine && c.value == 1;
  };
  if (std::any_of(depth.begin(), depth.end(), neighbours)) return;
  const auto found = std::find_if(factors.begin(), factors.end(), neighbours);
  if (found != factors.end()) std::rotate(found, found + 1, factors.end());
}

// Row-major: (axis / extents behind) % extent, summed up by coordinate.
void add_coordinates(IndexMap& map, const Factors& factors, int axis) {
  int64_t inner = 1;
  for (auto f = factors.rbegin(); f != factors.rend(); ++f) {
    const IndexExpr rest = floor_div(IndexExpr::dim(axis), inner, map.extents);
    IndexExpr& to = map.results[static_cast<size_t>(f->coordinate)];
    to = to + modulo(rest, f->extent, map.extents) * f->multiplier;
    inner *= f->extent;
  }
}

}  // namespace

ProductDims product_dims(const Signature& s, const ReductionDomain& d) {
  ProductDims dims;
  const IndexMap &left = d.maps[0], &right = d.maps[1];
  const int results = static_cast<int>(s.results[0].dims.size());
  for (int i = 0; i < results; ++i) classify(dims, left, right, i);
  for (int i = results; i < static_cast<int>(left.extents.size()); ++i)
    dims.depth.push_back({i, 1, left.extents[static_cast<size_t>(i)]});
  order_by_memory(dims.rows, dims.depth, linear_offset(left, s.operands[0].dims));
  order_by_memory(dims.columns, dims.depth, linear_offset(right, s.operands[1].dims));
  int innermost = -1;
  for (int i = 0; i < results; ++i)
    if (s.results[0].dims[static_cast<size_t>(i)] > 1) innermost = i;
  dims.swapped = std::any_of(dims.rows.begin(), dims.rows.end(),
                             [&](const Factor& f) { return f.coordinate == innermost && f.multiplier == 1; });
  if (dims.swapped) std::swap(dims.rows, dims.columns);
  return dims;
}

int64_t extent_of(const Factors& factors) {
  int64_t extent = 1;
  for (const Factor& f : factors) extent *= f.extent;
  return extent;
}

IndexMap product_point(const ProductDims& dims, const Dims& coordinates) {
  IndexMap map{
      .extents = {extent_of(dims.rows), extent_of(dims.columns), extent_of(dims.matrices), extent_of(dims.depth)},
      .results = std::vector<IndexExpr>(coordinates.size()),
      .guards = {}};
  int axis = 0;
  for (const Factors* factors : {&dims.rows, &dims.columns, &dims.matrices, &dims.depth})
    add_coordinates(map, *factors, axis++);
  for (IndexExpr& e : map.results) e = simplify(e, map.extents);
  return map;
}

}  // namespace heddle::ir
