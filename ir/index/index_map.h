// IndexMap: the element of an operand that a kernel reads at a point of its iteration space.
//
//   broadcast f32[128] -> f32[64,128]:  (d0, d1) -> (d1)
//   transpose {perm = [1,0]}:           (d0, d1) -> (d1, d0)
//   pad one zero on the left:           (d0) -> (d0 - 1) if 0 <= d0 - 1 < 8
//
// Broadcast, transpose, reshape, slice, pad, concat and windows inside a kernel are index maps. A chain of them is one
// map (`compose`) and one address. Expressions are kept simplified with the known ranges of the coordinates. So a
// reshape that merges or splits neighbouring dimensions leaves no division.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/type.h"

namespace heddle::ir {

struct IndexExpr;

// coefficient * atom; an atom is a coordinate, or floor(e / k), or e mod k of another expression.
struct IndexTerm {
  enum class Kind { dim, floor_div, modulo };
  int64_t coefficient = 1;
  Kind kind = Kind::dim;
  int dim = -1;                  // Kind::dim
  int64_t divisor = 1;           // floor_div, modulo; positive
  std::vector<IndexExpr> inner;  // floor_div, modulo: exactly one
  bool operator==(const IndexTerm&) const;
};

// constant + the sum of the terms
struct IndexExpr {
  int64_t constant = 0;
  std::vector<IndexTerm> terms;  // sorted, no zero coefficient, no atom twice

  IndexExpr() = default;
  IndexExpr(int64_t value) : constant(value) {}  // NOLINT: a number is an expression
  static IndexExpr dim(int d);

  bool operator==(const IndexExpr&) const = default;
};

IndexExpr operator+(const IndexExpr& a, const IndexExpr& b);
IndexExpr operator-(const IndexExpr& a, const IndexExpr& b);
IndexExpr operator*(const IndexExpr& a, int64_t factor);
// `extents`: coordinate i lies in [0, extents[i]); used to simplify.
IndexExpr floor_div(const IndexExpr& a, int64_t divisor, const Dims& extents);
IndexExpr modulo(const IndexExpr& a, int64_t divisor, const Dims& extents);
// Combines quotients and remainders of the same number: x / 4 * 4 + x % 4 becomes x.
IndexExpr simplify(const IndexExpr& e, const Dims& extents);

struct Range {
  int64_t low = 0, high = 0;  // inclusive
};
Range range(const IndexExpr& e, const Dims& extents);
// A bound on the absolute value of everything that is computed for the expression: of partial sums in any order of the
// terms, and of the operands of divisions.
int64_t magnitude(const IndexExpr& e, const Dims& extents);
int64_t evaluate(const IndexExpr& e, const Dims& coordinates);
// The factor of coordinate d, if no division or remainder contains d; else `affine` is false.
struct Coefficient {
  bool affine = true;
  int64_t value = 0;
};
Coefficient coefficient(const IndexExpr& e, int d);
bool depends_on(const IndexExpr& e, int d);
std::string to_string(const IndexExpr& e);                                      // "d0 * 128 + d1 / 4"
std::string to_string(const IndexExpr& e, std::span<const std::string> names);  // with these names for the coordinates

// The element exists only where low <= expr < high. Elsewhere is a pad's border, or another operand of a concat.
struct Guard {
  IndexExpr expr;
  int64_t low = 0, high = 0;
  bool operator==(const Guard&) const = default;
};

struct IndexMap {
  Dims extents;                    // of the iteration coordinates
  std::vector<IndexExpr> results;  // one per operand dimension
  std::vector<Guard> guards;       // all must hold; a guard that always holds is left out

  bool operator==(const IndexMap&) const = default;
  bool contains(const Dims& coordinates) const;                   // whether all guards hold
  Dims apply(const Dims& coordinates) const;                      // meaningful where all guards hold
  void add_guard(const IndexExpr& e, int64_t low, int64_t high);  // unless the ranges prove that it always holds
};

bool depends_on(const IndexMap& at, int d);  // whether a result or a guard contains coordinate d

IndexMap identity_map(const Dims& extents);
// The map of a reshape: result and operand elements have the same row-major position.
IndexMap reshape_map(const Dims& result, const Dims& operand);
// `outer` maps iteration -> B, `inner` maps B -> A; the result maps iteration -> A and carries the guards of both.
IndexMap compose(const IndexMap& outer, const IndexMap& inner);
// Row-major element offset into an operand of these dims.
IndexExpr linear_offset(const IndexMap& map, const Dims& operand);
std::string to_string(const IndexMap& map);

}  // namespace heddle::ir
