#include "ir/kernel/long_sums.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ir/ceil_div.h"
#include "ir/kernel/access.h"
#include "ir/kernel/plan_reductions.h"

namespace heddle::ir {
namespace {

constexpr int64_t kWarp = 32, kHostLanes = 16;  // running results of a long row on the host: hd::lanes

bool on_gpu(const schedules::Rows& schedule) { return schedule.threads > 1; }

int64_t teams(const schedules::Rows& schedule) {
  return schedule.team > kWarp ? 1 : std::max<int64_t>(1, schedule.threads / schedule.team);
}

bool is_sum(const Signature& s) { return monoid_of(*s.op).rounds && is_floating(s.operands[0].dtype); }

// The number of elements that are added to one accumulator, one after the other.
int64_t chain_of(const schedules::Rows& schedule, const KernelPlan& plan, ReductionPlan how, bool each_point) {
  const int64_t blocks = std::max<int64_t>(schedule.blocks, 1), rows = ceil_div(plan.rows, blocks * teams(schedule));
  switch (how) {
    case ReductionPlan::none:
    case ReductionPlan::inner: return 0;  // no chain of the plan's
    case ReductionPlan::row: return elements_of_row(schedule, plan);
    case ReductionPlan::column: return rows;
    case ReductionPlan::total: break;
  }
  if (plan.span) return ceil_div(elements_of_row(schedule, plan), blocks);
  return each_point ? rows * elements_of_row(schedule, plan) : rows;
}

// Additions after the chain: lanes, warps and blocks are combined pairwise, or nearly so, so these are few.
constexpr int64_t kAddedOfLanes = 5, kAddedOfBlocks = 16;

bool is_long(int64_t chain, int64_t behind, int64_t elements) {
  return chain > kRun && static_cast<double>(chain + behind) > allowed_error(elements);
}

struct Sum {
  ReductionPlan how = ReductionPlan::none;
  bool each_point = false;
  int64_t elements = 1;
};
// The sum of a reduction if it is long; else nothing.
std::optional<Sum> long_sum(const Graph& k, const KernelPlan& plan, const Node& n) {
  const Signature s = signature(k, n);
  ReductionDomain storage;
  const ReductionDomain* d = reduction_domain(s, storage);
  if (d == nullptr || !is_sum(s)) return std::nullopt;
  const ReductionPlan how = plan.of(n.results[0]).reduction;
  const bool each_point = is_per_point(how, *d, plan.space());
  const auto& schedule = std::get<schedules::Rows>(k.schedule->how);
  const int64_t behind = how == ReductionPlan::row && !on_gpu(schedule) ? kAddedOfLanes : kAddedOfBlocks;
  if (!is_long(chain_of(schedule, plan, how, each_point), behind, product(d->extents))) return std::nullopt;
  return Sum{how, each_point, product(d->extents)};
}

}  // namespace

// 8 additions of half an eps each make the error of 4 eps for a doubling.
double allowed_error(int64_t elements) { return 8 * std::log2(static_cast<double>(std::max<int64_t>(elements, 2))); }

bool is_long_sum(const Graph& k, const KernelPlan& plan, const Node& n) { return long_sum(k, plan, n).has_value(); }

bool is_long_sum(const Signature& s, const ReductionDomain& d, bool spread) {
  const int64_t points = product(d.extents);
  return is_sum(s) && is_long(spread ? ceil_div(points, kWarp) : points, spread ? kAddedOfLanes : 0, points);
}

int64_t elements_of_row(const schedules::Rows& schedule, const KernelPlan& plan) {
  if (!on_gpu(schedule)) return ceil_div(plan.columns, kHostLanes);
  return ceil_div(plan.columns, (plan.span ? schedule.threads : schedule.team) * schedule.vector_width) *
         schedule.vector_width;
}

int64_t run_of(int64_t elements) {
  constexpr int64_t kMost = 128;
  return std::clamp(static_cast<int64_t>(allowed_error(elements)) - kAddedOfBlocks, kRun, kMost);
}

int64_t turns_of_run(const schedules::Rows& schedule, const KernelPlan& plan) {
  return std::max<int64_t>(1, run_of(plan.columns) / schedule.vector_width);
}

int64_t rows_of_run(const Graph& k, const schedules::Rows& schedule, const KernelPlan& plan) {
  if (plan.span) return 0;
  const int64_t of_row = elements_of_row(schedule, plan);
  int64_t rows = 0;
  for (const NodeId id : k.order) {
    const std::optional<Sum> sum = long_sum(k, plan, k[id]);
    if (!sum || (sum->how != ReductionPlan::column && sum->how != ReductionPlan::total)) continue;
    const bool of_elements = sum->how == ReductionPlan::total && sum->each_point;
    const int64_t run = run_of(sum->elements);
    if (of_elements && of_row > kRun) continue;  // each row ends its runs
    const int64_t most = std::max<int64_t>(1, run / (of_elements ? of_row : 1) / schedule.prefetch_distance);
    rows = rows == 0 ? most : std::min(rows, most);
  }
  return rows;
}

RunOfLoops run_of_loops(const Dims& loops) {
  int64_t inside = 1;
  for (size_t i = loops.size(); i-- > 0; inside *= loops[i])
    if (inside * loops[i] > kRun || i == 0) return {i, std::max<int64_t>(1, kRun / inside)};
  return {};
}

// No runs for tensor cores: they round once per 8 or 16 products, and the rounding of their factors is much coarser.
ProductRuns product_runs(const schedules::Product& schedule, const ContractPlan& plan) {
  const int64_t depth = schedule.tile[2], k = plan.space[kDepth];
  const int64_t chain = std::min(plan.steps * depth, k),
                parts = schedule.split_k > 1 ? plan.gather + schedule.split_k / plan.gather : 0;
  const double allowed = allowed_error(k) - static_cast<double>(parts);
  if (plan.tensor_cores || static_cast<double>(chain) <= allowed) return {};
  const auto even = static_cast<int64_t>(std::sqrt(static_cast<double>(chain))) / depth;
  const int64_t steps = std::max<int64_t>(1, even), runs = ceil_div(plan.steps, steps);
  const int64_t roundings = steps * depth + runs - 2;  // but for those that add to a zero
  if (static_cast<double>(roundings) <= allowed) return {steps, /*wide=*/false};
  constexpr int64_t kWideRun = 64;
  const int64_t wide = std::max<int64_t>(1, kWideRun / depth);
  if (plan.steps <= wide) return {};  // one run, which second sums would only repeat
  return {wide, /*wide=*/true};
}

}  // namespace heddle::ir
