#include "passes/fuse/choose_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/kernel/cost.h"
#include "ir/kernel/plan_tile.h"
#include "ir/op_def.h"
#include "passes/fuse/domain.h"
#include "passes/fuse/product_schedule.h"

namespace heddle::passes {

using namespace ir;

namespace {

// The number of columns that the reductions require: 0 if they require none, nullopt if they contradict each other.
struct Demand {
  int64_t columns = 0;
  bool reduces = false;  // a reduction combines several points of the iteration space
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

// The number of leading dimensions that are rows. With `columns` > 0, the trailing ones have exactly so many elements,
// or the result is nullopt. With 0, they are just enough for an inner loop that can be vectorised.
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

// The bytes of the widest element that is loaded or stored. Values of one element do not count.
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

// The number of blocks whose partial results are summed in order. It depends only on the sizes and the target, so
// results are reproducible. A block has at least eight rows; with fewer, the final sum would take longer than the
// partial sums. Four rows are allowed if this gives every multiprocessor a block. On a GPU there is at most one thread
// per point, because a thread handles its points one after another.
int64_t fixed_blocks(const Graph& k, const schedules::Rows& schedule, const Target& target) {
  constexpr int64_t kPointsOfWorker = 1024, kRowsOfBlock = 8, kFewRowsOfBlock = 4;
  const int64_t of_block = target.gpu ? kBlock : kPointsOfWorker;
  const int64_t points = schedule.rows() * schedule.columns();
  int64_t most = schedule.rows() > 1 ? schedule.rows() / kRowsOfBlock : schedule.columns();
  if (target.gpu && schedule.rows() / kFewRowsOfBlock >= target.sm_count && moves_much(k))
    most = std::max(most, target.sm_count);
  return std::clamp<int64_t>(std::min((points + of_block - 1) / of_block, most), 1, target.sm_count);
}

int64_t column_sums(const KernelPlan& plan) {
  return std::count_if(plan.values.begin(), plan.values.end(),
                       [](const ValuePlan& v) { return v.reduction == ReductionPlan::column; });
}

// `count` threads per block, or the target's limit.
int64_t threads(int64_t count, const Target& target) { return std::min(count, target.max_threads); }

// The number of elements in a packet. With several rows, a row must be a whole number of packets. A single row may end
// with a partial packet.
int64_t packet_of(const Graph& k, const KernelPlan& plan, const Target& target) {
  if (plan.draws) return kDrawnAtOnce;
  const int64_t most = std::max<int64_t>(target.vector_bytes / widest_bytes(k), 1);
  const bool any_length = plan.rows == 1 && plan.columns >= most;
  return any_length ? most : power_below(most, plan.columns);
}

// Sets the number of threads that share a row. A thread keeps its part of the row in registers.
void set_team(schedules::Rows& schedule, const KernelPlan& plan, const Target& target) {
  constexpr int64_t kLoopedPackets = 16;
  while (schedule.team < target.warp && schedule.team * schedule.vector_width < plan.columns) schedule.team *= 2;
  const bool long_row = plan.columns > schedule.team * schedule.vector_width * kLoopedPackets;
  if (long_row || column_sums(plan) * plan.columns > schedule.team * target.kept_sums)
    schedule.team = schedule.threads = threads(kTeamBlock, target);
  schedule.cached = plan.phases > 1 && plan.columns <= schedule.team * schedule.vector_width * target.kept_packets;
}

// If there are too few points for every multiprocessor, uses fewer threads per block. If there are very few points,
// such as when each of them is a sum, uses narrower packets, too.
void spread_points(const Graph& k, schedules::Pointwise& schedule, const KernelPlan& plan, const Target& target) {
  constexpr int64_t kFew = 64;
  if (!moves_much(k)) return;
  const auto too_few = [&] {
    const int64_t packets = plan.rows * ((plan.columns + schedule.vector_width - 1) / schedule.vector_width);
    return (packets + schedule.threads - 1) / schedule.threads < target.sm_count;
  };
  while (too_few() && schedule.threads > kFew) schedule.threads /= 2;
  while (too_few() && schedule.vector_width > 1 && !plan.draws) schedule.vector_width /= 2;
  while (too_few() && schedule.threads > target.warp) schedule.threads /= 2;
}

// If a kernel that moves much would leave blocks without rows, gives a row more threads with narrower packets, or a
// block fewer threads.
void spread_rows(const Graph& k, schedules::Rows& schedule, const KernelPlan& plan, const Target& target) {
  if (!target.gpu || schedule.blocks == 0 || plan.rows == 1 || !moves_much(k)) return;
  const auto idle = [&] { return (schedule.blocks - 1) * (schedule.threads / schedule.team) >= plan.rows; };
  while (idle() && schedule.vector_width > 1 && schedule.team < target.warp)
    schedule.vector_width /= 2, schedule.team *= 2;
  while (idle() && schedule.threads > target.warp && schedule.team < schedule.threads) schedule.threads /= 2;
}

// For sums of columns, a thread passes once over several rows. Sets how many of them it loads at the same time: up to a
// quarter of its registers. Not for products, whose loads are inside of the points.
void set_ahead(const Graph& k, schedules::Rows& schedule, const KernelPlan& plan, const Target& target) {
  constexpr int64_t kMostRows = 4, kMostBytes = 256;
  if (!target.gpu || plan.partials.empty() || plan.span || plan.phases > 1 || schedule.vector_width == 1 ||
      holds_product(k))
    return;
  if (plan.columns > schedule.team * schedule.vector_width) return;
  int64_t bytes = 0;
  for (const ValueId v : k.inputs) bytes += schedule.vector_width * bits(k[v].type.dtype) / 8;
  if (bytes == 0) return;
  const int64_t abreast = schedule.blocks * (schedule.threads / schedule.team);
  const int64_t turns = (plan.rows + abreast - 1) / abreast,
                most = std::clamp<int64_t>(kMostBytes / bytes, 1, kMostRows);
  const int64_t batches = (turns + most - 1) / most;
  schedule.prefetch_distance = (turns + batches - 1) / batches;
}

int64_t index_bits(const KernelPlan& plan, const Target& target) {
  return plan.largest_index >= target.index_limit ? 64 : 32;
}

// Why a schedule that is possible would be slow, or "". One team executes a row, so a single long row would leave the
// rest of the device idle.
std::string unwise(const KernelPlan& plan, const Target& target) {
  constexpr int64_t kLongRow = 8192;
  if (column_sums(plan) * plan.columns > threads(kTeamBlock, target) * target.kept_sums)
    return fmt::format("{} running sums are more than a block's registers hold", column_sums(plan) * plan.columns);
  if (!has_reduction(plan, ReductionPlan::row) || plan.rows > 1 || plan.columns <= kLongRow) return {};
  return fmt::format("one row of {} elements would be reduced by one team", plan.columns);
}

// Changes the schedule to tiles if the kernel has a transpose whose two dimensions are large enough.
void try_tile(Graph& k, const Target& target) {
  const auto large = [&](NodeId n) {
    const std::optional<Turn> turn = turn_of(k, k[n]);
    return turn && turn->large();
  };
  if (std::none_of(k.order.begin(), k.order.end(), large)) return;
  const auto pointwise = std::get<schedules::Pointwise>(k.schedule->how);
  auto& tile = k.schedule->how.emplace<schedules::Tile>(schedules::Tile{pointwise});
  for (tile.split = std::ssize(tile.domain) - 1; tile.split > 0; --tile.split) {
    const TilePlan plan = plan_tile(k);
    const bool fits = plan.ok() && plan.shared_bytes <= target.shared_bytes;
    if (!fits || !Turn{plan.space[kRow], plan.space[kColumn]}.large()) continue;
    tile.index = index_bits(plan_kernel(k), target);
    return;
  }
  k.schedule->how = pointwise;
}

// Completes a schedule whose domain and split are set. Returns "", or why it cannot execute the kernel.
std::string set_schedule(Graph& k, schedules::Pointwise& schedule, const Target& target) {
  const KernelPlan plan = plan_kernel(k);
  if (!plan.ok()) return plan.reason;
  if (std::string reason = unwise(plan, target); !reason.empty()) return reason;
  schedule.vector_width = packet_of(k, plan, target);
  schedule.threads = threads(kBlock, target);
  schedule.index = index_bits(plan, target);
  spread_points(k, schedule, plan, target);
  try_tile(k, target);
  return {};
}

std::string set_schedule(Graph& k, schedules::Rows& schedule, const Target& target) {
  schedule.blocks = fixed_blocks(k, schedule, target);
  KernelPlan plan = plan_kernel(k);
  if (plan.ok() && plan.partial_bytes == 0) {
    schedule.blocks = 0;
    plan = plan_kernel(k);
  }
  if (!plan.ok()) return plan.reason;
  if (std::string reason = unwise(plan, target); !reason.empty()) return reason;
  k.schedule->workspace = plan.partial_bytes;
  schedule.vector_width = packet_of(k, plan, target);
  schedule.threads = threads(kBlock, target);
  schedule.index = index_bits(plan, target);
  set_team(schedule, plan, target);
  spread_rows(k, schedule, plan, target);
  set_ahead(k, schedule, plan, target);
  return {};
}

// Sets a schedule over `elements` points. Returns "", or why none executes the kernel.
std::string try_schedule(Graph& k, int64_t elements, const Dims& dims, const Target& target) {
  std::optional<Demand> demand = demanded_columns(k, elements);
  if (!demand) return "reductions over different axes";
  Dims domain = merged_domain(k, elements).value_or(dims);
  if (domain.empty()) domain = {1};
  std::optional<int64_t> split = split_at(domain, demand->columns);
  if (!split) return "reductions cross the merged dimensions";
  const schedules::OverDomain over{{}, domain, *split};
  k.schedule.emplace();
  if (demand->reduces) return set_schedule(k, k.schedule->how.emplace<schedules::Rows>(schedules::Rows{over}), target);
  return set_schedule(k, k.schedule->how.emplace<schedules::Pointwise>(schedules::Pointwise{over}), target);
}

// The time from counted operations, for loops that move much but have fewer blocks than there are multiprocessors;
// otherwise nullopt. The usual estimate assumes that all multiprocessors work.
std::optional<double> counted_where_few(const Graph& k, const Target& target) {
  if (!moves_much(k) || plan_kernel(k).most_blocks >= target.sm_count) return std::nullopt;
  return kernel_cost(k, target).seconds;
}

}  // namespace

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
    std::string reason = try_schedule(k, elements, dims, target);
    if (reason.empty()) return {};
    if (first_reason.empty()) first_reason = reason;
  }
  k.schedule.reset();
  return first_reason.empty() ? "nothing is computed" : first_reason;
}

bool moves_much(const Graph& k) {
  constexpr int64_t kMuch = int64_t{1} << 20;
  int64_t bytes = 0;
  for (const ValueId v : k.inputs) bytes += k[v].type.bytes();
  for (const ValueId v : k.outputs) bytes += k[v].type.bytes();
  return bytes > kMuch;
}

FormChoice choose_schedule(Graph& k, const Target& target) {
  std::optional<KernelSchedule> tiles;
  Cost of_tiles;
  ContractPlan product;
  if (target.gpu && holds_product(k)) {
    product = choose_product_schedule(k, target);
    if (product.ok()) {
      of_tiles = estimated_cost(k, product, target);
      // A lower bound for loops is often enough to reject them without planning.
      if (of_tiles.seconds < least_seconds_of_loops(k, of_tiles, target)) return {"", of_tiles};
      tiles = k.schedule;
    }
  }
  std::string reason = choose_loops(k, target);
  const Cost of_loops = k.schedule ? estimated_cost(k, target) : Cost();
  if (!tiles) return {std::move(reason), of_loops};
  const std::optional<KernelSchedule> loops = k.schedule;
  const bool sooner = loops && of_loops.seconds <= of_tiles.seconds;
  const std::optional<double> counted = sooner ? counted_where_few(k, target) : std::nullopt;
  k.schedule = tiles;
  if (!sooner || (counted && *counted > kernel_cost(k, product, target).seconds)) return {"", of_tiles};
  k.schedule = loops;
  return {"", of_loops};
}

}  // namespace heddle::passes
