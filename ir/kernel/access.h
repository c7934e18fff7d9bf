// Accesses: which element of a value a kernel needs at a point of its space. A point is (row, column), then the
// counters of the loops around it; coordinate 0 is the row, 1 the column.
//
//   %b: f32[128] broadcast over f32[64,128]:   (row, column) -> (column)
//   %x in a 2x2 window of a [n,h,w,c] image:    (row, column, i, j) -> (...)
//
// What plan_kernel decides on and codegen prints from, so that both read a kernel alike.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "ir/kernel/plan_kernel.h"
#include "ir/op_def.h"

namespace heddle::ir {

inline constexpr int kRow = 0, kColumn = 1;

// The element of a value of shape `dims` at row-major position `linear`, an expression over coordinates of `extents`.
IndexMap access_at(const Dims& extents, const IndexExpr& linear, const Dims& dims);
// One element per point, per row, per column, or one alone.
IndexMap access_of(Extent extent, const Dims& space, const Dims& dims);

// Where a value is computed that is needed at `at`: what has one element is the same everywhere, and guards only say
// where it is taken.
IndexMap computed_at(const IndexMap& at, const Dims& dims);

// Scalar, row or full: whether the element changes from row to row, or from column to column.
Extent extent_of(const IndexExpr& e);
Extent extent_of(const IndexMap& access);

// Where a movement's result element comes from: one access per operand.
std::vector<IndexMap> operand_accesses(const Signature& s, const Movement& m, const IndexMap& result);
// Which dimensions of a movement's result are neighbours as they are in its operand: those of one run are. A broadcast
// keeps some dimensions and makes others (run 0); a transpose changes their order. Nothing where coordinates are
// computed. Of transpose f32[8,26,26,32] {perm = [0,3,1,2]}: 1, 2, 3, 3.
std::optional<std::vector<size_t>> runs_of(const IndexMap& map, const Dims& operand);
// Where a lookup's result element comes from: what the bound coordinates are read at, and the operand's element, whose
// map has these coordinates behind the result's.
struct LookupAccess {
  Dims bound;  // extents of the bound coordinates, from result.extents.size() on
  std::vector<IndexMap> indices;
  IndexMap element;
};
LookupAccess lookup_access(const Signature& s, const Lookup& lookup, const IndexMap& result);
// `k` and `i` of a source's expression.
IndexExpr source_k(const Signature& s, const Source& source, const IndexMap& result);

// A reduction whose result is needed at `result` (inner), or which runs over the rows, columns or all of `space`.
struct ReductionAccess {
  Dims loops;                      // extents of an inner reduction's loops, coordinates from result.extents.size() on
  std::vector<IndexMap> operands;  // with the guards under which a point contributes
  IndexExpr k;
  int64_t count = 0;
};
bool is_reduction(const OpDef& op);  // or a contraction, which is a sum
const ReductionDomain* reduction_domain(const Signature& s, ReductionDomain& storage);  // nullptr: not a reduction
ReductionAccess inner_reduction(const Signature& s, const ReductionDomain& d, const IndexMap& result);
// With one result, as one loop over all elements in their order: lanes side by side have neighbouring ones.
ReductionAccess single_reduction(const Signature& s, const ReductionDomain& d, const Dims& space);
ReductionAccess spread_reduction(const Signature& s, const ReductionDomain& d, ReductionPlan plan, const Dims& space);

// What a node that is no reduction across points reads to make its element at `result`.
struct Read {
  ValueId value;
  IndexMap at;
};
std::vector<Read> reads_at(const Graph& g, const Node& n, const IndexMap& result);

// A result lies in the place of this operand.
bool is_overwritten(const Graph& g, ValueId operand);

// Bytes of one accumulator of a reduction.
const Monoid& monoid_of(const OpDef& op);  // of a reduction, or a contraction, which is a sum
int64_t accumulator_bytes(const Signature& s);

// `identifier` occurs in the C++ text as a word of its own.
bool mentions(std::string_view text, std::string_view identifier);

}  // namespace heddle::ir
