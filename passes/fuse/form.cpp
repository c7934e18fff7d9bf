#include "passes/fuse/form.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/kernel/cost.h"
#include "ir/kernel/plan_tile.h"
#include "ir/op_def.h"
#include "passes/fuse/contract_form.h"
#include "passes/fuse/domain.h"

namespace heddle::passes {

using namespace ir;

namespace {

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

bool holds_product(const Graph& k) {
  return std::any_of(k.order.begin(), k.order.end(),
                     [&](NodeId n) { return std::holds_alternative<Contraction>(k[n].op->kind); });
}

constexpr int64_t kBlock = 128, kTeamBlock = 256;  // threads

// A number of blocks that depends on nothing but the sizes and the target: their partial results
// are summed in order. At least eight rows a block, or summing them takes longer than making them;
// four, where a multiprocessor would be left without any. Of a GPU a point for each thread, which
// waits for each further one.
int64_t fixed_blocks(const Graph& k, const forms::Rows& form, const Target& target) {
  constexpr int64_t kPointsOfWorker = 1024, kRowsOfBlock = 8, kFewRowsOfBlock = 4;
  const int64_t of_block = target.gpu ? kBlock : kPointsOfWorker;
  const int64_t points = form.rows() * form.columns();
  int64_t most = form.rows() > 1 ? form.rows() / kRowsOfBlock : form.columns();
  if (target.gpu && form.rows() / kFewRowsOfBlock >= target.most_blocks && moves_much(k))
    most = std::max(most, target.most_blocks);
  return std::clamp<int64_t>(std::min((points + of_block - 1) / of_block, most), 1, target.most_blocks);
}

int64_t column_sums(const KernelPlan& plan) {
  return std::count_if(plan.values.begin(), plan.values.end(),
                       [](const ValuePlan& v) { return v.reduction == ReductionPlan::column; });
}

// Threads of a block, where the target has as many.
int64_t threads(int64_t count, const Target& target) { return std::min(count, target.max_threads); }

// The packet of a thread's loads and stores. Each of several rows starts on a whole packet; one alone may end in a part
// of one.
int64_t packet_of(const Graph& k, const KernelPlan& plan, const Target& target) {
  if (plan.draws) return kDrawnAtOnce;
  const int64_t most = std::max<int64_t>(target.packet_bytes / widest_bytes(k), 1);
  const bool any_length = plan.rows == 1 && plan.columns >= most;
  return any_length ? most : power_below(most, plan.columns);
}

// Who shares a row. What a thread keeps of it lies in its registers.
void set_team(forms::Rows& form, const KernelPlan& plan, const Target& target) {
  constexpr int64_t kLoopedPackets = 16;
  while (form.team < target.warp && form.team * form.packet < plan.columns) form.team *= 2;
  const bool long_row = plan.columns > form.team * form.packet * kLoopedPackets;
  if (long_row || column_sums(plan) * plan.columns > form.team * target.kept_sums)
    form.team = form.threads = threads(kTeamBlock, target);
  form.cached = plan.phases > 1 && plan.columns <= form.team * form.packet * target.kept_packets;
}

// Where there are too few points for every multiprocessor, blocks of fewer threads; where there are
// very few, as behind a sum at each of them, narrower packets, too.
void spread_points(const Graph& k, forms::Pointwise& form, const KernelPlan& plan, const Target& target) {
  constexpr int64_t kFew = 64;
  if (!moves_much(k)) return;
  const auto too_few = [&] {
    const int64_t packets = plan.rows * ((plan.columns + form.packet - 1) / form.packet);
    return (packets + form.threads - 1) / form.threads < target.most_blocks;
  };
  while (too_few() && form.threads > kFew) form.threads /= 2;
  while (too_few() && form.packet > 1 && !plan.draws) form.packet /= 2;
  while (too_few() && form.threads > target.warp) form.threads /= 2;
}

// Of blocks that leave partial results of much each has rows: a row takes more threads, of narrower packets, or a block
// has fewer.
void spread_rows(const Graph& k, forms::Rows& form, const KernelPlan& plan, const Target& target) {
  if (!target.gpu || form.blocks == 0 || plan.rows == 1 || !moves_much(k)) return;
  const auto idle = [&] { return (form.blocks - 1) * (form.threads / form.team) >= plan.rows; };
  while (idle() && form.packet > 1 && form.team < target.warp) form.packet /= 2, form.team *= 2;
  while (idle() && form.threads > target.warp && form.team < form.threads) form.threads /= 2;
}

// A thread that passes over several rows once, for sums of columns: what it loads of them, up to a quarter of its
// registers, is under way at once. A product's loads are inside its points.
void set_ahead(const Graph& k, forms::Rows& form, const KernelPlan& plan, const Target& target) {
  constexpr int64_t kMostRows = 4, kMostBytes = 256;
  if (!target.gpu || plan.partials.empty() || plan.span || plan.phases > 1 || form.packet == 1 || holds_product(k))
    return;
  if (plan.columns > form.team * form.packet) return;
  int64_t bytes = 0;
  for (const ValueId v : k.inputs) bytes += form.packet * bits(k[v].type.dtype) / 8;
  if (bytes == 0) return;
  const int64_t abreast = form.blocks * (form.threads / form.team);
  const int64_t turns = (plan.rows + abreast - 1) / abreast,
                most = std::clamp<int64_t>(kMostBytes / bytes, 1, kMostRows);
  const int64_t batches = (turns + most - 1) / most;
  form.ahead = (turns + batches - 1) / batches;
}

int64_t index_bits(const KernelPlan& plan, const Target& target) {
  return plan.largest_index >= target.index_limit ? 64 : 32;
}

// What can be executed, but badly. A row is the work of one team: a long one alone would leave the rest of the device
// idle.
std::string unwise(const KernelPlan& plan, const Target& target) {
  constexpr int64_t kLongRow = 8192;
  if (column_sums(plan) * plan.columns > threads(kTeamBlock, target) * target.kept_sums)
    return fmt::format("{} running sums are more than a block's registers hold", column_sums(plan) * plan.columns);
  if (!has_reduction(plan, ReductionPlan::row) || plan.rows > 1 || plan.columns <= kLongRow) return {};
  return fmt::format("one row of {} elements would be reduced by one team", plan.columns);
}

// Through tiles, where a transpose has two sides that are long enough for them.
void try_tile(Graph& k, const Target& target) {
  const auto large = [&](NodeId n) {
    const std::optional<Turn> turn = turn_of(k, k[n]);
    return turn && turn->large();
  };
  if (std::none_of(k.order.begin(), k.order.end(), large)) return;
  const auto pointwise = std::get<forms::Pointwise>(k.form->how);
  auto& tile = k.form->how.emplace<forms::Tile>(forms::Tile{pointwise});
  for (tile.split = std::ssize(tile.domain) - 1; tile.split > 0; --tile.split) {
    const TilePlan plan = plan_tile(k);
    const bool fits = plan.ok() && plan.shared_bytes <= target.shared_bytes;
    if (!fits || !Turn{plan.space[kRow], plan.space[kColumn]}.large()) continue;
    tile.index = index_bits(plan_kernel(k), target);
    return;
  }
  k.form->how = pointwise;
}

// "" when the form executes the kernel, of which the domain and its split are known.
std::string set_form(Graph& k, forms::Pointwise& form, const Target& target) {
  const KernelPlan plan = plan_kernel(k);
  if (!plan.ok()) return plan.reason;
  if (std::string reason = unwise(plan, target); !reason.empty()) return reason;
  form.packet = packet_of(k, plan, target);
  form.threads = threads(kBlock, target);
  form.index = index_bits(plan, target);
  spread_points(k, form, plan, target);
  try_tile(k, target);
  return {};
}

std::string set_form(Graph& k, forms::Rows& form, const Target& target) {
  form.blocks = fixed_blocks(k, form, target);
  KernelPlan plan = plan_kernel(k);
  if (plan.ok() && plan.partial_bytes == 0) {
    form.blocks = 0;
    plan = plan_kernel(k);
  }
  if (!plan.ok()) return plan.reason;
  if (std::string reason = unwise(plan, target); !reason.empty()) return reason;
  k.form->workspace = plan.partial_bytes;
  form.packet = packet_of(k, plan, target);
  form.threads = threads(kBlock, target);
  form.index = index_bits(plan, target);
  set_team(form, plan, target);
  spread_rows(k, form, plan, target);
  set_ahead(k, form, plan, target);
  return {};
}

// "" when a form over `elements` points executes the kernel.
std::string try_form(Graph& k, int64_t elements, const Dims& dims, const Target& target) {
  std::optional<Demand> demand = demanded_columns(k, elements);
  if (!demand) return "reductions over different axes";
  Dims domain = merged_domain(k, elements).value_or(dims);
  if (domain.empty()) domain = {1};
  std::optional<int64_t> split = split_at(domain, demand->columns);
  if (!split) return "reductions cross the merged dimensions";
  const forms::OverDomain over{{}, domain, *split};
  k.form.emplace();
  if (demand->reduces) return set_form(k, k.form->how.emplace<forms::Rows>(forms::Rows{over}), target);
  return set_form(k, k.form->how.emplace<forms::Pointwise>(forms::Pointwise{over}), target);
}

// A form by rows and columns; products are loops inside a point.
std::string choose_loops(Graph& k, const Target& target) {
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
    std::string reason = try_form(k, elements, dims, target);
    if (reason.empty()) return {};
    if (first_reason.empty()) first_reason = reason;
  }
  k.form.reset();
  return first_reason.empty() ? "nothing is computed" : first_reason;
}

// Loops that move much, and yet have too few blocks for every multiprocessor: the time by what they
// execute. The estimate takes them for spread over all.
std::optional<double> counted_where_few(const Graph& k, const Target& target) {
  if (!moves_much(k) || plan_kernel(k).most_blocks >= target.most_blocks) return std::nullopt;
  return kernel_cost(k, target).seconds;
}

}  // namespace

bool moves_much(const Graph& k) {
  constexpr int64_t kMuch = int64_t{1} << 20;
  int64_t bytes = 0;
  for (const ValueId v : k.inputs) bytes += k[v].type.bytes();
  for (const ValueId v : k.outputs) bytes += k[v].type.bytes();
  return bytes > kMuch;
}

FormChoice choose_form(Graph& k, const Target& target) {
  std::optional<KernelForm> tiles;
  Cost of_tiles;
  ContractPlan product;
  if (target.gpu && holds_product(k)) {
    product = choose_contract_form(k, target);
    if (product.ok()) {
      of_tiles = estimated_cost(k, product, target);
      // Mostly loops need not be planned to know that they would take longer.
      if (of_tiles.seconds < least_seconds_of_loops(k, of_tiles, target)) return {"", of_tiles};
      tiles = k.form;
    }
  }
  std::string reason = choose_loops(k, target);
  const Cost of_loops = k.form ? estimated_cost(k, target) : Cost();
  if (!tiles) return {std::move(reason), of_loops};
  const std::optional<KernelForm> loops = k.form;
  const bool sooner = loops && of_loops.seconds <= of_tiles.seconds;
  const std::optional<double> counted = sooner ? counted_where_few(k, target) : std::nullopt;
  k.form = tiles;
  if (!sooner || (counted && *counted > kernel_cost(k, product, target).seconds)) return {"", of_tiles};
  k.form = loops;
  return {"", of_loops};
}

}  // namespace heddle::passes
