#include "passes/fuse_form.h"

#include <fmt/format.h>

#include "ir/op_def.h"
#include "ir/view.h"

namespace heddle::passes {

using namespace ir;

std::vector<bool> reduced_axes(const Graph& g, const Node& n) {
  const auto* reduction = std::get_if<Reduction>(&n.op->kind);
  if (!reduction || n.operands.size() != 1) return {};
  ReductionDomain domain = reduction->domain(signature(g, n));
  const IndexMap& map = domain.maps[0];
  const Type& operand = g[n.operands[0]].type;
  int64_t kept = g[n.results[0]].type.rank();
  if (!map.guards.empty()) return {};
  std::vector<bool> reduced;
  for (size_t d = 0; d < operand.dims.size(); ++d) {
    const IndexExpr& e = map.results[d];
    bool coordinate = e.constant == 0 && e.terms.size() == 1 && e.terms[0].kind == IndexTerm::Kind::dim &&
                      e.terms[0].coefficient == 1 &&
                      map.extents[static_cast<size_t>(e.terms[0].dim)] == operand.dims[d];
    if (!coordinate) return {};
    reduced.push_back(e.terms[0].dim >= kept);
  }
  return reduced;
}

namespace {

// Which dimensions of an iteration space must stay apart, as the numbers of elements inside each cut: [8,26,26,32] cut
// before the last dimension is {32}. Written so, cuts of differently shaped values with the same elements compare.
class Cuts {
 public:
  explicit Cuts(int64_t elements) : elements_(elements) {}

  void all(const Dims& dims) {
    for (size_t i = 1; i < dims.size(); ++i) at(dims, i);
  }
  // Between neighbours that differ in `flag`.
  void where_differs(const Dims& dims, const std::vector<bool>& flag) {
    size_t last = dims.size();  // the last dimension of more than one element
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] == 1) continue;
      if (last < dims.size() && flag[i] != flag[last]) at(dims, i);
      last = i;
    }
  }
  // The merged dimensions, or nothing where the cuts cross.
  std::optional<Dims> domain() const {
    Dims result;
    int64_t outer = elements_;
    for (auto it = inner_.rbegin(); it != inner_.rend(); ++it) {
      if (outer % *it != 0) return std::nullopt;
      result.push_back(outer / *it);
      outer = *it;
    }
    result.push_back(outer);
    return result;
  }

 private:
  void at(const Dims& dims, size_t i) {
    int64_t inner = 1;
    for (size_t d = i; d < dims.size(); ++d) inner *= dims[d];
    if (inner > 1 && inner < elements_) inner_.insert(inner);
  }

  int64_t elements_;
  std::set<int64_t> inner_;
};

void cut_movement(Cuts& cuts, const Graph& k, const Node& n) {
  const Dims& result = k[n.results[0]].type.dims;
  std::vector<IndexMap> maps = std::get<Movement>(n.op->kind).maps(signature(k, n));
  const Dims& operand = k[n.operands[0]].type.dims;
  bool same_elements = maps.size() == 1 && product(operand) == product(result);
  if (same_elements && maps[0] == reshape_map(result, operand)) return;
  // A broadcast keeps some coordinates as they are and drops the others.
  std::vector<bool> kept(result.size(), false);
  bool broadcast = maps.size() == 1 && maps[0].guards.empty();
  int last = -1;
  for (const IndexExpr& e : maps[0].results) {
    if (e.is_constant() && e.constant == 0) continue;
    bool plain = e.constant == 0 && e.terms.size() == 1 && e.terms[0].kind == IndexTerm::Kind::dim &&
                 e.terms[0].coefficient == 1 && e.terms[0].dim > last;
    if (!plain) {
      broadcast = false;
      break;
    }
    last = e.terms[0].dim;
    kept[static_cast<size_t>(last)] = true;
  }
  if (broadcast)
    cuts.where_differs(result, kept);
  else
    cuts.all(result);
}

// The iteration space over `elements` points, merged as far as the operators allow.
std::optional<Dims> merged_domain(const Graph& k, int64_t elements) {
  Cuts cuts(elements);
  for (NodeId id : k.order) {
    const Node& n = k[id];
    std::vector<bool> reduced = reduced_axes(k, n);
    const Dims& result = k[n.results[0]].type.dims;
    if (!reduced.empty() && k[n.operands[0]].type.elements() == elements) {
      cuts.where_differs(k[n.operands[0]].type.dims, reduced);
    } else if (k[n.results[0]].type.elements() == elements) {
      if (std::holds_alternative<Movement>(n.op->kind)) cut_movement(cuts, k, n);
      if (std::holds_alternative<Reduction>(n.op->kind) || std::holds_alternative<Contraction>(n.op->kind))
        cuts.all(result);
      if (const auto* source = std::get_if<Source>(&n.op->kind); source && source->k) cuts.all(result);
    }
  }
  return cuts.domain();
}

// What the reductions say about the cut between rows and columns: the number of columns, 0 where they say nothing,
// nullopt where they contradict each other.
struct Demand {
  int64_t columns = 0;
  bool reduces = false;  // some reduction runs across points
};
std::optional<Demand> demanded_columns(const Graph& k, int64_t elements) {
  Demand demand;
  for (NodeId id : k.order) {
    const Node& n = k[id];
    std::vector<bool> reduced = reduced_axes(k, n);
    if (reduced.empty() || k[n.operands[0]].type.elements() != elements) continue;
    const Dims& dims = k[n.operands[0]].type.dims;
    int64_t results = k[n.results[0]].type.elements();
    demand.reduces = true;
    if (results == 1) continue;
    // Trailing axes are the columns of a row reduction, leading ones the rows of a column reduction.
    std::vector<bool> wide;
    for (size_t d = 0; d < dims.size(); ++d)
      if (dims[d] > 1) wide.push_back(reduced[d]);
    if (wide.empty()) continue;
    int64_t columns = wide.back() ? elements / results : results;
    bool one_cut = std::is_sorted(wide.begin(), wide.end()) || std::is_sorted(wide.rbegin(), wide.rend());
    if (!one_cut || (demand.columns != 0 && demand.columns != columns)) return std::nullopt;
    demand.columns = columns;
  }
  return demand;
}

// Where to cut: `columns` when that is a product of trailing dimensions, else so that the inner loop is long enough to
// be vectorised.
std::optional<int64_t> split_at(const Dims& domain, int64_t columns) {
  constexpr int64_t kShortLoop = 16;
  int64_t inner = 1;
  for (size_t i = domain.size(); i-- > 0;) {
    if (columns > 0 ? inner == columns : inner >= kShortLoop) return static_cast<int64_t>(i) + 1;
    inner *= domain[i];
  }
  if (columns > 0 && inner != columns) return std::nullopt;
  return 0;
}

// Of an element that is loaded or stored once per point or row; scalars do not count.
int64_t widest_bytes(const Graph& k) {
  int64_t widest = 1;
  auto see = [&](ValueId v) {
    if (k[v].type.elements() > 1) widest = std::max(widest, bits(k[v].type.dtype) / 8);
  };
  for (ValueId v : k.inputs) see(v);
  for (ValueId v : k.outputs) see(v);
  return widest;
}

int64_t power_below(int64_t limit, int64_t divides) {
  int64_t p = 1;
  while (p * 2 <= limit && divides % (p * 2) == 0) p *= 2;
  return p;
}

// A number of blocks that depends on nothing but the sizes: their partial results are summed in order. At least eight
// rows a block, or summing them takes longer than making them.
int64_t fixed_blocks(const KernelForm& form) {
  constexpr int64_t kPointsOfBlock = 1024, kRowsOfBlock = 8, kMostBlocks = 64;
  int64_t points = form.rows() * form.columns();
  int64_t most = form.rows() > 1 ? form.rows() / kRowsOfBlock : form.columns();
  return std::clamp<int64_t>(std::min((points + kPointsOfBlock - 1) / kPointsOfBlock, most), 1, kMostBlocks);
}

int64_t column_sums(const KernelPlan& plan) {
  return std::count_if(plan.values.begin(), plan.values.end(),
                       [](const ValuePlan& v) { return v.reduction == ReductionPlan::column; });
}

// Threads and packets of a GPU. What a thread keeps of a row lies in its registers: at most a few packets.
void set_shape(const Graph& k, KernelForm& form, const KernelPlan& plan) {
  constexpr int64_t kPacketBytes = 16, kWarp = 32, kBlock = 256, kKeptPackets = 4, kLoopedPackets = 16, kSums = 32;
  form.packet = power_below(kPacketBytes / widest_bytes(k), plan.columns);
  if (form.kind != KernelForm::Kind::rows) return;
  while (form.team < kWarp && form.team * form.packet < plan.columns) form.team *= 2;
  bool long_row = plan.columns > form.team * form.packet * kLoopedPackets;
  if (long_row || column_sums(plan) * plan.columns > form.team * kSums) form.team = kBlock;
  form.cached = plan.phases > 1 && plan.columns <= form.team * form.packet * kKeptPackets;
}

// What can be executed, but badly. A row is the work of one team: a long one alone would leave the rest of the device
// idle.
std::string unwise(const KernelPlan& plan) {
  constexpr int64_t kLongRow = 8192, kMostSums = 8192;
  bool reduces = std::any_of(plan.values.begin(), plan.values.end(),
                             [](const ValuePlan& v) { return v.reduction == ReductionPlan::row; });
  if (column_sums(plan) * plan.columns > kMostSums)
    return fmt::format("{} running sums are more than a block's registers hold", column_sums(plan) * plan.columns);
  if (!reduces || plan.rows > 1 || plan.columns <= kLongRow) return {};
  return fmt::format("one row of {} elements would be reduced by one team", plan.columns);
}

// "" when a form over `elements` points executes the kernel.
std::string try_form(Graph& k, int64_t elements, const Dims& dims) {
  std::optional<Demand> demand = demanded_columns(k, elements);
  if (!demand) return "reductions over different axes";
  Dims domain = merged_domain(k, elements).value_or(dims);
  if (domain.empty()) domain = {1};
  std::optional<int64_t> split = split_at(domain, demand->columns);
  if (!split) return "reductions cross the merged dimensions";
  KernelForm& form = k.form.emplace();
  form.kind = demand->reduces ? KernelForm::Kind::rows : KernelForm::Kind::pointwise;
  form.domain = domain;
  form.split = *split;
  if (demand->reduces) form.blocks = fixed_blocks(form);
  KernelPlan plan = plan_kernel(k);
  if (plan.ok() && plan.partial_bytes == 0 && form.blocks > 0) {
    form.blocks = 0;
    plan = plan_kernel(k);
  }
  if (!plan.ok()) return plan.reason;
  if (std::string reason = unwise(plan); !reason.empty()) return reason;
  form.workspace = plan.partial_bytes;
  set_shape(k, form, plan);
  return {};
}

}  // namespace

std::string choose_form(Graph& k) {
  // Iteration spaces to try: operands of reductions and results, the largest first.
  std::map<int64_t, Dims, std::greater<>> spaces;
  for (NodeId id : k.order)
    if (!reduced_axes(k, k[id]).empty()) {
      const Type& type = k[k[id].operands[0]].type;
      spaces.emplace(type.elements(), type.dims);
    }
  for (ValueId v : k.outputs) spaces.emplace(k[v].type.elements(), k[v].type.dims);
  std::string first_reason;
  for (const auto& [elements, dims] : spaces) {
    std::string reason = try_form(k, elements, dims);
    if (reason.empty()) return {};
    if (first_reason.empty()) first_reason = reason;
  }
  k.form.reset();
  return first_reason.empty() ? "nothing is computed" : first_reason;
}

}  // namespace heddle::passes
