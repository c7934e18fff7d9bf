// Accesses: index maps from a point of a kernel's space to the element of a value that the kernel needs there. The
// coordinates of a point are the row (0), the column (1), then the counters of the loops around it.
//
//   %b: f32[128] broadcast over f32[64,128]:   (row, column) -> (column)
//   %x in a 2x2 window of a [n,h,w,c] image:    (row, column, i, j) -> (...)
//
// plan_kernel decides with these functions and codegen prints with them, so both find the same elements.
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
// The access of a value with one element per point, per row, per column, or with a single element.
IndexMap access_of(Extent extent, const Dims& space, const Dims& dims);

// The map at which a value is computed when it is needed at `at`: `at` itself, or for a value with one element the map
// to that element without guards.
IndexMap computed_at(const IndexMap& at, const Dims& dims);

// What the element changes with: scalar (nothing), row, or full (the column).
Extent extent_of(const IndexExpr& e);
Extent extent_of(const IndexMap& access);

// The access of each operand for a movement's result element at `result`. Where the guards of the first operand hold,
// it supplies the element, else the second, and so on.
std::vector<IndexMap> operand_accesses(const Signature& s, const Movement& m, const IndexMap& result);
// A run number for each dimension of a movement's result. Dimensions with the same number are neighbours in the operand
// too. Run 0: a broadcast made the dimension. Nothing if coordinates are computed (divisions, guards).
// For transpose f32[8,26,26,32] {perm = [0,3,1,2]}: 1, 2, 3, 3.
std::optional<std::vector<size_t>> runs_of(const IndexMap& map, const Dims& operand);
// The accesses of a lookup's result element: of the index operand for each bound coordinate, and of the first operand.
// The latter map takes the bound coordinates after those of the result.
struct LookupAccess {
  Dims bound;  // extents of the bound coordinates, whose numbers start at result.extents.size()
  std::vector<IndexMap> indices;
  IndexMap element;
};
LookupAccess lookup_access(const Signature& s, const Lookup& lookup, const IndexMap& result);
// `k` of a source's expression.
IndexExpr source_k(const Signature& s, const Source& source, const IndexMap& result);

// The accesses of a reduction: an inner one, whose result is needed at `result`, or one over the rows, columns or all
// points of `space`.
struct ReductionAccess {
  Dims loops;                      // extents of an inner reduction's loops; their coordinates follow those of `result`
  std::vector<IndexMap> operands;  // with the guards under which a point contributes
  IndexExpr k;                     // see ReductionDomain
  int64_t count = 0;
};
bool is_reduction(const OpDef& op);  // true for contractions too: they are sums
const ReductionDomain* reduction_domain(const Signature& s, ReductionDomain& storage);  // nullptr: not a reduction
ReductionAccess inner_reduction(const Signature& s, const ReductionDomain& d, const IndexMap& result);
// A reduction with one result, as one loop over all elements in row-major order, so that neighbouring lanes read
// neighbouring elements.
ReductionAccess single_reduction(const Signature& s, const ReductionDomain& d, const Dims& space);
ReductionAccess spread_reduction(const Signature& s, const ReductionDomain& d, ReductionPlan plan, const Dims& space);

// An operand's element that a node reads.
struct Read {
  ValueId value;
  IndexMap at;
};
// The elements that a node reads to compute its element at `result`. Not for reductions across points.
std::vector<Read> reads_at(const Graph& g, const Node& n, const IndexMap& result);

// Whether a result of the kernel is written over this operand.
bool is_overwritten(const Graph& g, ValueId operand);

const Monoid& monoid_of(const OpDef& op);       // of a reduction; of a contraction the sum
int64_t accumulator_bytes(const Signature& s);  // bytes of one accumulator of a reduction

// Whether `identifier` occurs in the C++ text as a whole word.
bool mentions(std::string_view text, std::string_view identifier);

}  // namespace heddle::ir
