#include "ir/storage/view.h"

#include "ir/op_def.h"

namespace heddle::ir {
namespace {

struct Interval {
  int64_t low = 0, high = 0;
};

// Where the guards of a map hold, one interval per coordinate; nullopt when a guard is not a bound on one coordinate.
std::optional<std::vector<Interval>> guarded_box(const IndexMap& map) {
  std::vector<Interval> box;
  for (int64_t extent : map.extents) box.push_back({0, extent});
  for (const Guard& guard : map.guards) {
    if (guard.expr.terms.size() != 1) return std::nullopt;
    const IndexTerm& term = guard.expr.terms[0];
    if (term.kind != IndexTerm::Kind::dim || term.coefficient != 1) return std::nullopt;
    Interval& side = box[static_cast<size_t>(term.dim)];
    side.low = std::max(side.low, guard.low - guard.expr.constant);
    side.high = std::min(side.high, guard.high - guard.expr.constant);
  }
  return box;
}

// Whether the box is contiguous in the row-major result: only its first dimension with more than one element may be
// cut.
bool contiguous(const std::vector<Interval>& box, const Dims& dims) {
  size_t first = 0;
  while (first < dims.size() && box[first].high - box[first].low == 1) ++first;
  for (size_t i = first + 1; i < dims.size(); ++i)
    if (box[i].low != 0 || box[i].high != dims[i]) return false;
  return true;
}

std::optional<Piece> piece(const IndexMap& map, const Dims& result, const Dims& operand) {
  // The sizes are compared too, because the map of a broadcast may also read modulo the operand's size.
  if (product(result) == product(operand) && map == reshape_map(result, operand))
    return Piece{.count = product(result)};
  auto box = guarded_box(map);
  if (!box || !contiguous(*box, result)) return std::nullopt;
  IndexExpr offset = linear_offset(map, operand);
  Dims strides = row_major_strides(result);
  Piece p{.from = offset.constant, .count = 1};
  for (size_t i = 0; i < result.size(); ++i) {
    auto [low, high] = (*box)[i];
    if (high <= low) return std::nullopt;
    Coefficient c = coefficient(offset, static_cast<int>(i));
    if (!c.affine || (high - low > 1 && c.value != strides[i])) return std::nullopt;
    p.from += c.value * low;
    p.to += strides[i] * low;
    p.count *= high - low;
  }
  return p;
}

}  // namespace

std::vector<Piece> contiguous_pieces(const Graph& g, const Node& n) {
  const auto* movement = std::get_if<Movement>(&n.op->kind);
  if (!movement) return {};
  std::vector<IndexMap> maps = movement->maps(signature(g, n));
  const Type& result = g[n.results[0]].type;
  std::vector<Piece> pieces;
  int64_t covered = 0;
  // Operands after a piece that covers the whole result are never read.
  for (size_t i = 0; i < maps.size() && covered < result.elements(); ++i) {
    std::optional<Piece> p = piece(maps[i], result.dims, g[n.operands[i]].type.dims);
    if (!p) return {};
    p->operand = i;
    covered += p->count;
    pieces.push_back(*p);
  }
  if (covered != result.elements()) return {};
  return pieces;
}

}  // namespace heddle::ir
