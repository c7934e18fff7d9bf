#include "ir/kernel/plan_contract.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/ceil_div.h"
#include "ir/kernel/count/product_layout.h"
#include "ir/kernel/plan_reductions.h"
#include "ir/kernel/product_dims.h"
#include "ir/visit.h"

namespace heddle::ir {
namespace {

// The widest copy into shared memory, and the narrowest.
constexpr int64_t kMostCopied = 16, kLeastCopied = 4;
// The most values at different indices that a point, or an element of a side, may need.
constexpr size_t kMostReads = 512;

int64_t bytes_of(DType dtype) { return bits(dtype) / 8; }
bool multiplies(DType dtype) { return dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::f16; }

NodeId only_contraction(const Graph& k) {
  NodeId found;
  for (const NodeId id : k.order) {
    if (!std::holds_alternative<Contraction>(k[id].op->kind)) continue;
    if (found.valid()) throw Refusal{"it holds more than one contraction"};
    found = id;
  }
  if (!found.valid()) throw Refusal{"it holds no contraction"};
  const Type& type = k[k[found].operands[0]].type;
  if (!multiplies(type.dtype)) throw Refusal{fmt::format("no tiles multiply {}", to_string(type.dtype))};
  return found;
}

// The change of an expression from one position along the axis to the next; 0 if the axis has one position.
int64_t stride(const IndexExpr& e, const Dims& extents, int axis) {
  Dims at(extents.size(), 0);
  if (extents[static_cast<size_t>(axis)] < 2) return 0;
  const int64_t first = evaluate(e, at);
  at[static_cast<size_t>(axis)] = 1;
  return std::abs(evaluate(e, at) - first);
}

// Whether packets of `packet` neighbours along the axis can be copied at once: their elements are adjacent and aligned
// in memory, and either all of them exist or none.
bool packs(const IndexMap& at, const Dims& memory, int axis, int64_t packet) {
  if (packet == 1) return true;
  const auto a = static_cast<size_t>(axis);
  if (at.extents[a] % packet != 0) return false;
  const int inside = static_cast<int>(at.extents.size());
  IndexMap split{.extents = at.extents, .results = {}, .guards = {}};
  split.extents[a] /= packet;
  split.extents.push_back(packet);
  for (int d = 0; d < inside; ++d)
    split.results.push_back(d == axis ? IndexExpr::dim(d) * packet + IndexExpr::dim(inside) : IndexExpr::dim(d));
  const IndexMap map = compose(split, at);
  for (const Guard& g : map.guards)
    if (depends_on(g.expr, inside)) return false;
  const IndexExpr linear = linear_offset(map, memory);
  const Coefficient c = coefficient(linear, inside);
  if (!c.affine || c.value != 1 || linear.constant % packet != 0) return false;
  return std::all_of(linear.terms.begin(), linear.terms.end(), [&](const IndexTerm& t) {
    return (t.kind == IndexTerm::Kind::dim && t.dim == inside) || t.coefficient % packet == 0;
  });
}

class ContractPlanner {
 public:
  explicit ContractPlanner(const Graph& k) : k_(k), known_(k.value_count()) {}

  Dims domain() {
    plan_.contraction = only_contraction(k_);
    plan_space();
    return {plan_.space[kProductMatrix], plan_.space[kRow], plan_.space[kColumn]};
  }

  // Call it after the domain is known.
  ContractPlan plan(const Dims& domain) {
    const auto& schedule = std::get<schedules::Product>(k_.schedule->how);
    if (schedule.domain != domain || schedule.split != 2)
      throw Refusal{fmt::format("domain {} is not the product's {} matrices of {} x {}, or is not split before columns",
                                to_string(schedule.domain), plan_.space[kProductMatrix], plan_.space[kRow],
                                plan_.space[kColumn])};
    plan_.multiplied = schedule.precision == ProductPrecision::bf16  ? DType::bf16
                       : schedule.precision == ProductPrecision::f16 ? DType::f16
                                                                     : operand_type();
    plan_.tensor_cores = plan_.multiplied != DType::f32 || schedule.precision == ProductPrecision::tf32;
    plan_side(plan_.left, kRow);
    plan_side(plan_.right, kColumn);
    plan_results(domain);
    if (schedule.tile.size() != 3) throw Refusal{"tile is missing: rows, columns and depth"};
    set_tiles(plan_, schedule);
    return plan_;
  }

 private:
  DType operand_type() const { return k_[k_[plan_.contraction].operands[0]].type.dtype; }

  void plan_space() {
    const Node& n = k_[plan_.contraction];
    const Signature s = signature(k_, n);
    ReductionDomain d;
    reduction_domain(s, d);
    const ProductDims dims = product_dims(s, d);
    const IndexMap point = product_point(dims, d.maps[0].extents);
    plan_.space = point.extents;
    if (product(plan_.space) == 0) throw Refusal{"the product is empty"};
    IndexMap result{point.extents, {point.results.begin(), point.results.begin() + s.results[0].rank()}, {}};
    plan_.point = linear_offset(result, s.results[0].dims);
    const size_t left = dims.swapped ? 1 : 0, right = 1 - left;
    plan_.left.value = n.operands[left], plan_.left.at = compose(point, d.maps[left]);
    plan_.right.value = n.operands[right], plan_.right.at = compose(point, d.maps[right]);
  }

  // --- the sides ---

  void plan_side(ProductSide& side, int axis) {
    widest_ = {};
    read(side.value, side.at, /*result=*/false);
    const int64_t along = stride(widest_.linear, plan_.space, kDepth),
                  across = stride(widest_.linear, plan_.space, axis);
    const bool longer = plan_.space[kDepth] > plan_.space[static_cast<size_t>(axis)];
    side.along_k = along != 0 && (across == 0 || along < across || (along == across && longer));
    find_memory(side);
    if (!side.memory.valid()) return;
    const Dims& dims = k_[side.memory].type.dims;
    const int64_t bytes = bytes_of(plan_.multiplied);
    const IndexExpr linear = linear_offset(side.memory_at, dims);
    part(linear, side.from_row, side.from_k);
    plan_borders(side);
    for (int64_t packet = kMostCopied / bytes; packet * bytes >= kLeastCopied && side.packet == 0; packet /= 2)
      if (packs(side.memory_at, dims, side.along_k ? kDepth : axis, packet)) side.packet = packet;
  }

  // Splits an expression into a part that does not depend on k, and the rest.
  static void part(const IndexExpr& e, IndexExpr& from_row, IndexExpr& from_k) {
    from_row = from_k = IndexExpr();
    from_row.constant = e.constant;
    for (const IndexTerm& t : e.terms) {
      IndexExpr term;
      term.terms = {t};
      (depends_on(term, kDepth) ? from_k : from_row).terms.push_back(t);
    }
  }

  // Two borders fit into one register, as halves of 16 bits.
  void plan_borders(ProductSide& side) const {
    constexpr size_t kMost = 2;
    constexpr int64_t kSmall = 1 << 13;
    side.borders.clear();
    if (side.memory_at.guards.size() > kMost) return;
    for (const Guard& g : side.memory_at.guards) {
      Border& b = side.borders.emplace_back();
      part(g.expr, b.from_row, b.from_k);
      b.low = g.low, b.high = g.high;
      const auto small = [&](const IndexExpr& e) {
        const Range r = range(e, plan_.space);
        return r.low > -kSmall && r.high < kSmall;
      };
      if (small(b.from_row) && small(b.from_k) && g.low > -kSmall && g.high - g.low < kSmall) continue;
      side.borders.clear();
      return;
    }
  }

  // Finds the value in memory from which the side's elements can be copied unchanged, if there is one.
  void find_memory(ProductSide& side) const {
    ValueId v = side.value;
    IndexMap at = side.at;
    for (const Node* n = k_.def(v); n != nullptr; n = k_.def(v)) {
      const Signature s = signature(k_, *n);
      const auto* movement = std::get_if<Movement>(&n->op->kind);
      if (movement == nullptr || n->operands.size() != 1) return;
      const IndexMap map = movement->maps(s)[0];
      if (!map.guards.empty() && s.op->find_attr("fill") != nullptr && s.real("fill") != 0) return;
      at = compose(at, map);
      v = n->operands[0];
    }
    if (k_[v].type.dtype != plan_.multiplied) return;
    side.memory = v;
    side.memory_at = at;
  }

  // --- what the kernel reads and computes ---

  void plan_results(const Dims& domain) {
    for (const ValueId v : k_.outputs) {
      if (k_[v].type.elements() != product(domain))
        throw Refusal{fmt::format("%{} has {} elements: not one per point of {}", k_[v].name, k_[v].type.elements(),
                                  to_string(domain))};
      read(v, access_at(plan_.space, plan_.point, k_[v].type.dims), /*result=*/true);
    }
  }

  void read(ValueId v, const IndexMap& at, bool result) {
    auto& known = known_[static_cast<size_t>(v.index)];
    if (std::find(known.begin(), known.end(), at) != known.end()) return;
    known.push_back(at);
    if (++reads_ > kMostReads) throw Refusal{fmt::format("%{} is needed at too many indices", k_[v].name)};
    for (const Guard& g : at.guards) see(g.expr);
    const Node* n = k_.def(v);
    if (n == nullptr) return load(v, at);
    if (k_[plan_.contraction].results[0] == v) return take_sum(v, at, result);
    const bool point_by_point = visit_kind(
        *n->op, [](const OneOf<Source, Elementwise, Movement> auto&) { return true; },
        [](const OneOf<Lookup, Reduction, Contraction, Primitive, Composite, Gradient, Call, Scan> auto&) {
          return false;
        });
    if (!point_by_point)
      throw Refusal{fmt::format("{} is computed from other elements than the product's", n->op->name)};
    if (std::holds_alternative<Source>(n->op->kind)) see(linear_offset(at, k_[v].type.dims));
    for (const Read& r : reads_at(k_, *n, at)) read(r.value, r.at, result);
  }

  void load(ValueId v, const IndexMap& at) {
    const IndexExpr linear = linear_offset(at, k_[v].type.dims);
    see(linear);
    if (widest_.elements > k_[v].type.elements()) return;
    widest_ = {linear, k_[v].type.elements()};
  }

  void take_sum(ValueId v, const IndexMap& at, bool result) const {
    const Dims& dims = k_[v].type.dims;
    const bool here = at == access_at(plan_.space, plan_.point, dims) || linear_offset(at, dims) == plan_.point;
    if (!result || !at.guards.empty() || !here)
      throw Refusal{fmt::format("%{} is needed at another point than where it is summed up", k_[v].name)};
  }

  void see(const IndexExpr& e) { plan_.largest_read = std::max(plan_.largest_read, magnitude(e, plan_.space)); }

  struct Widest {
    IndexExpr linear;
    int64_t elements = 0;
  };
  const Graph& k_;
  ContractPlan plan_;
  Widest widest_;  // of the arrays that a side is made from
  std::vector<std::vector<IndexMap>> known_;
  size_t reads_ = 0;
};

}  // namespace

ContractPlan plan_contract(const Graph& kernel) {
  ContractPlan refused;
  try {
    ContractPlanner planner(kernel);
    return planner.plan(planner.domain());
  } catch (const Refusal& r) {
    refused.reason = r.reason;
  }
  return refused;
}

ContractPlan plan_contract(Graph& kernel, const schedules::Product& schedule) {
  ContractPlan refused;
  try {
    ContractPlanner planner(kernel);
    const Dims domain = planner.domain();
    kernel.schedule = KernelSchedule{.how = schedule};
    std::get<schedules::Product>(kernel.schedule->how).domain = domain;
    return planner.plan(domain);
  } catch (const Refusal& r) {
    refused.reason = r.reason;
  }
  return refused;
}

void set_parts(ContractPlan& plan, const schedules::Product& schedule) {
  const int64_t depth = schedule.tile[2];
  plan.steps = ceil_div(ceil_div(plan.space[kDepth], depth), schedule.split_k);
  // With many parts, one block would add all of them while the others are idle. So groups of parts are added in
  // parallel. A group has about as many parts as there are groups.
  constexpr int64_t kFew = 8;
  plan.gather = schedule.split_k;
  for (int64_t g = 1; schedule.split_k > kFew && plan.gather == schedule.split_k; ++g)
    if (g * g >= schedule.split_k) plan.gather = g;
  plan.counters = schedule.split_k > 1 ? plan.tiles * (ceil_div(schedule.split_k, plan.gather) + 1) : 0;
  const int64_t past = (plan.steps * schedule.split_k + schedule.stages) * depth;
  plan.largest_index = std::max({plan.largest_read, 2 * plan.tiles * schedule.split_k, past,
                                 plan.space[kRow] + schedule.tile[0], plan.space[kColumn] + schedule.tile[1]});
}

void set_tiles(ContractPlan& plan, const schedules::Product& schedule) {
  const int64_t rows = schedule.tile[0], columns = schedule.tile[1], depth = schedule.tile[2];
  plan.tiles = plan.space[kProductMatrix] * ceil_div(plan.space[kRow], rows) * ceil_div(plan.space[kColumn], columns);
  const int64_t bytes = bytes_of(plan.multiplied);
  const auto side = [&](bool along_k, int64_t length) {
    return bytes * (along_k ? length : depth) * tile_pitch(along_k, length, depth, bytes);
  };
  plan.shared_bytes = schedule.stages * (side(plan.left.along_k, rows) + side(plan.right.along_k, columns));
  // The number of registers for addresses and borders, in addition to the sums.
  int64_t left_over = 40;
  for (ProductSide* s : {&plan.left, &plan.right}) {
    const int64_t elements = (s == &plan.left ? rows : columns) * depth;
    const bool guarded = !s->memory_at.guards.empty(), keeps = s->packet > 0 && (!guarded || !s->borders.empty());
    const int64_t slots = keeps ? ceil_div(elements, s->packet * schedule.threads) * (guarded ? 2 : 1) : left_over + 1;
    s->kept = slots <= left_over;
    if (s->kept) left_over -= slots;
  }
  set_parts(plan, schedule);
}

}  // namespace heddle::ir
