#include "ir/kernel/plan_tile.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/visit.h"

namespace heddle::ir {
namespace {

// The tiles of a block lie in shared memory, of which every GPU gives 48 KB by default. Each row has one item of
// padding.
constexpr int64_t kTileItems = kTileSide * (kTileSide + 1), kSharedBytes = int64_t{48} << 10;

// The directions in which the operands of a value lie in memory. An operand that varies along one side only, such as a
// bias, counts for neither: both directions read it equally well.
struct Reads {
  bool along = false;  // some operand's neighbours are neighbouring columns, or far apart both ways
  bool down = false;   // some operand's neighbours are neighbouring rows
};

class Stager {
 public:
  Stager(const Graph& k, TilePlan& plan) : k_(k), plan_(plan), reads_(k.value_count()), visited_(k.value_count()) {}

  void stage() {
    for (const ValueId v : k_.outputs) visit(v, access_at(plan_.space, plan_.point, k_[v].type.dims), /*moved=*/false);
  }

 private:
  using Accesses = std::vector<IndexMap>;

  static Reads load(const IndexExpr& linear) {
    if (!depends_on(linear, kRow) || !depends_on(linear, kColumn)) return {};
    const Coefficient row = coefficient(linear, kRow), column = coefficient(linear, kColumn);
    const bool down = row.affine && row.value == 1 && !(column.affine && std::abs(column.value) <= 1);
    return {.along = !down, .down = down};
  }

  Reads reads(ValueId v, const IndexMap& at) {
    auto& known = reads_[static_cast<size_t>(v.index)];
    for (const auto& [access, answer] : known)
      if (access == at) return answer;
    Reads sum;
    see(v, at);
    if (const Node* n = k_.def(v); n == nullptr) {
      sum = load(linear_offset(at, k_[v].type.dims));
    } else {
      for (const Read& read : reads_at(k_, *n, at)) {
        const Reads operand = reads(read.value, read.at);
        sum = {.along = sum.along || operand.along, .down = sum.down || operand.down};
      }
    }
    reads_[static_cast<size_t>(v.index)].emplace_back(at, sum);
    return sum;
  }

  void see(ValueId v, const IndexMap& at) {
    const bool indexed = k_.def(v) == nullptr || std::holds_alternative<Source>(k_.def(v)->op->kind);
    int64_t largest = indexed ? magnitude(linear_offset(at, k_[v].type.dims), at.extents) : 0;
    for (const Guard& g : at.guards) largest = std::max(largest, magnitude(g.expr, at.extents));
    plan_.largest_index = std::max(plan_.largest_index, largest);
  }

  // Stages values below a movement whose operands all lie along the rows; of a chain of such values, the outermost one.
  void visit(ValueId v, const IndexMap& at, bool moved) {
    Accesses& visited = visited_[static_cast<size_t>(v.index)];
    if (std::find(visited.begin(), visited.end(), at) != visited.end()) return;
    visited.push_back(at);
    const Reads here = reads(v, at);
    if (!here.down) return;
    const Node* n = k_.def(v);
    if (n == nullptr || (moved && !here.along)) return add(v, at);
    const bool moves = std::holds_alternative<Movement>(n->op->kind);
    for (const Read& read : reads_at(k_, *n, at)) visit(read.value, read.at, moved || moves);
  }

  // Movements without further guards are skipped, so that the same element is staged once.
  void add(ValueId v, IndexMap at) {
    for (const Node* n = k_.def(v); n != nullptr && n->operands.size() == 1; n = k_.def(v)) {
      const auto* m = std::get_if<Movement>(&n->op->kind);
      if (m == nullptr) break;
      IndexMap operand = operand_accesses(signature(k_, *n), *m, at)[0];
      if (operand.guards != at.guards) break;
      v = n->operands[0];
      at = std::move(operand);
    }
    const auto same = [&](const Staged& s) { return s.value == v && s.at == at; };
    if (std::none_of(plan_.staged.begin(), plan_.staged.end(), same))
      plan_.staged.push_back({.value = v, .at = std::move(at)});
  }

  const Graph& k_;
  TilePlan& plan_;
  std::vector<std::vector<std::pair<IndexMap, Reads>>> reads_;
  std::vector<Accesses> visited_;
};

// The space whose rows are dimension `rows_at` of the domain.
TilePlan space_with(const schedules::Tile& schedule, size_t rows_at) {
  const Dims strides = row_major_strides(schedule.domain);
  const auto split = static_cast<size_t>(schedule.split);
  TilePlan plan{.space = {schedule.domain[rows_at], schedule.columns(), 1},
                .point = {},
                .staged = {},
                .shared_bytes = 0,
                .largest_index = 0,
                .reason = {}};
  for (size_t d = 0; d < split; ++d) plan.space[kMatrix] *= d == rows_at ? 1 : schedule.domain[d];
  IndexExpr point = IndexExpr::dim(kColumn) + IndexExpr::dim(kRow) * strides[rows_at];
  int64_t inner = 1;  // matrices within one step of dimension d
  for (size_t d = split; d-- > 0;) {
    if (d == rows_at) continue;
    const IndexExpr step = floor_div(IndexExpr::dim(kMatrix), inner, plan.space);
    point = point + modulo(step, schedule.domain[d], plan.space) * strides[d];
    inner *= schedule.domain[d];
  }
  plan.point = simplify(point, plan.space);
  return plan;
}

// Of each operand at most one element, whose place is known.
bool takes_one_element(const OpDef& op) {
  return visit_kind(
      op, [](const OneOf<Source, Elementwise, Movement> auto&) { return true; },
      [](const OneOf<Lookup, Reduction, Contraction, Primitive, Composite, Gradient, Call, Scan> auto&) {
        return false;
      });
}

std::string refusal(const Graph& k, const Dims& domain) {
  for (const NodeId id : k.order)
    if (!takes_one_element(*k[id].op))
      return fmt::format("{} is computed from other elements than the tile's", k[id].op->name);
  for (const ValueId v : k.outputs)
    if (k[v].type.elements() != product(domain))
      return fmt::format("%{} has {} elements: not one per point of {}", k[v].name, k[v].type.elements(),
                         to_string(domain));
  return {};
}

void lay_out(const Graph& k, TilePlan& plan) {
  for (Staged& s : plan.staged) {
    const DType dtype = k[s.value].type.dtype;
    const int64_t item = std::max<int64_t>(bits(dtype) / 8, is_floating(dtype) ? 4 : 1);
    s.first_byte = plan.shared_bytes;
    plan.shared_bytes += item * kTileItems;
  }
}

}  // namespace

TilePlan plan_tile(const Graph& k) {
  const auto& schedule = std::get<schedules::Tile>(k.schedule->how);
  TilePlan plan;
  plan.reason = refusal(k, schedule.domain);
  if (!plan.ok()) return plan;
  for (size_t rows_at = static_cast<size_t>(schedule.split); rows_at-- > 0;) {
    plan = space_with(schedule, rows_at);
    Stager(k, plan).stage();
    if (plan.staged.empty()) continue;
    lay_out(k, plan);
    if (plan.shared_bytes <= kSharedBytes) return plan;
    const size_t tiles = plan.staged.size();
    const int64_t bytes = plan.shared_bytes;
    plan = {};
    plan.reason = fmt::format("{} tiles take {} bytes of shared memory, of {}", tiles, bytes, kSharedBytes);
    return plan;
  }
  plan = {};
  plan.reason = "no operand lies along another dimension than the innermost one of the results";
  return plan;
}

std::optional<Turn> turn_of(const Graph& g, const Node& n) {
  const auto* movement = std::get_if<Movement>(&n.op->kind);
  if (movement == nullptr) return std::nullopt;
  const std::vector<IndexMap> maps = movement->maps(signature(g, n));
  const Dims &result = maps[0].extents, &operand = g[n.operands[0]].type.dims;
  const auto runs = maps.size() == 1 ? runs_of(maps[0], operand) : std::nullopt;
  if (!runs) return std::nullopt;
  const auto innermost = [](const Dims& dims) {
    const auto it = std::find_if(dims.rbegin(), dims.rend(), [](int64_t d) { return d > 1; });
    return static_cast<size_t>(dims.rend() - it);  // counted from 1; 0: a single element
  };
  if (innermost(result) == 0 || innermost(operand) == 0) return std::nullopt;
  const size_t last = innermost(result) - 1;
  const auto lies_along = static_cast<size_t>(maps[0].results[innermost(operand) - 1].terms[0].dim);
  if (lies_along == last || (*runs)[last] == 0) return std::nullopt;
  Turn turn{.operand = 1, .result = 1};
  for (size_t d = 0; d < result.size(); ++d) {
    if ((*runs)[d] == (*runs)[lies_along]) turn.operand *= result[d];
    if ((*runs)[d] == (*runs)[last]) turn.result *= result[d];
  }
  return turn;
}

}  // namespace heddle::ir
