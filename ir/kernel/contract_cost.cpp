#include "ir/kernel/contract_cost.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "ir/kernel/cost.h"
#include "ir/kernel/long_sums.h"

namespace heddle::ir {
namespace {

// Operations for the address and the conditions of one copy to shared memory, counted in the PTX of convolutions: if
// parts are computed once (without and with borders of an image), and if everything is computed in each step.
constexpr double kKeptFlops = 10, kBorderFlops = 14, kCopyFlops = 50;
// Seconds of the barriers and the loop of a step, and of the fence and the counter where parts meet.
constexpr double kStepSeconds = 3e-8, kCountSeconds = 7e-7;

double work_below(const Graph& k, ValueId v, NodeId stop, std::set<NodeId>& seen) {
  const NodeId def = k[v].def;
  if (!def.valid() || def == stop || !seen.insert(def).second) return 0;
  double work = flops_per_point(*k[def].op);
  for (const ValueId o : k[def].operands) work += work_below(k, o, stop, seen);
  return work;
}

// Loads of a thread in flight where parts meet.
constexpr int64_t kAtOnce = 128;

// Registers of a thread. The second sums (of runs) are live together with the first ones; parts meet after both.
int64_t registers(const schedules::Product& schedule, const ContractPlan& plan, bool parts) {
  constexpr int64_t kOthers = 60;
  const int64_t sums = schedule.tile[0] * schedule.tile[1] / schedule.threads;
  const ProductRuns runs = product_runs(schedule, plan);
  const int64_t second = runs.steps == 0 ? 0 : runs.wide ? 2 * sums : sums;
  return sums + std::max(sums / 2 + second, parts ? kAtOnce : 0) + kOthers;
}

int64_t resident(const schedules::Product& schedule, bool parts, const ContractPlan& plan, const Target& target) {
  constexpr int64_t kReserved = 1024;  // of shared memory, by the system for each block
  return std::max<int64_t>(
      1,
      std::min({target.sm_shared_bytes / (plan.shared_bytes + kReserved),
                target.sm_registers / (schedule.threads * std::min(registers(schedule, plan, parts), kMostRegisters)),
                target.sm_threads / schedule.threads}));
}

// The share of its peak that a multiprocessor reaches. In the time of four fma of a warp, shared memory gives it one
// word per thread. So with 4 x 4 sums a thread waits for shared memory; with 8 x 8 sums it does not. Its four
// schedulers need a warp each. The more warps there are, the less they wait for one of them.
double efficiency(const schedules::Product& schedule, int64_t blocks, bool tensor_cores) {
  const double warps = static_cast<double>(blocks * schedule.threads) / 32;
  const int64_t sums = schedule.tile[0] * schedule.tile[1] / schedule.threads;
  const double reuse = tensor_cores ? 0.6 : sums >= 64 ? 0.9 : sums >= 32 ? 0.65 : 0.5;
  constexpr double kSchedulers = 4;
  return reuse * std::min(1.0, warps / kSchedulers) * warps / (warps + 1);
}

double fill_flops(const ProductSide& side, int64_t elements, double work) {
  const auto count = static_cast<double>(elements);
  if (side.packet == 0) return count * (kCopyFlops + work);
  const double kept = side.memory_at.guards.empty() ? kKeptFlops : kBorderFlops;
  return count / static_cast<double>(side.packet) * (side.kept ? kept : kCopyFlops);
}

int64_t parts_at_once(const schedules::Product& schedule) {
  return std::max<int64_t>(kAtOnce / (schedule.tile[0] * schedule.tile[1] / schedule.threads), 1);
}

// The time in which parts meet. Every block writes its sums. The last block of a group reads the sums of its parts,
// then the last block of all reads those of the groups, as many at once as registers hold. One multiprocessor reads the
// last-level cache at twice its share (64 bytes per cycle) while the others are idle.
double meeting_seconds(const schedules::Product& schedule, const ContractPlan& plan, const Target& target) {
  const int64_t sums = schedule.tile[0] * schedule.tile[1], groups = (schedule.split_k + plan.gather - 1) / plan.gather;
  const auto bytes = static_cast<double>(sums * 4);
  const double one = 2 * target.cache_bandwidth / static_cast<double>(target.sm_count);
  const auto together = static_cast<double>(parts_at_once(schedule));
  const auto add = [&](int64_t count) {
    const double turns = std::ceil(static_cast<double>(count) / together);
    return kCountSeconds + std::max(turns * 1.5 * target.latency, static_cast<double>(count) * bytes / one);
  };
  const double written = static_cast<double>(plan.tiles * schedule.split_k) * bytes / target.cache_bandwidth;
  return written + add(plan.gather) + (groups > 1 ? add(groups) : 0);
}

}  // namespace

ProductWork product_work(const Graph& kernel, const ContractPlan& plan) {
  ProductWork work;
  std::set<NodeId> left, right, results;
  work.left = work_below(kernel, plan.left.value, plan.contraction, left);
  work.right = work_below(kernel, plan.right.value, plan.contraction, right);
  for (const ValueId v : kernel.outputs) work.result += work_below(kernel, v, plan.contraction, results);
  return work;
}

int64_t product_registers(const schedules::Product& schedule, const ContractPlan& plan) {
  return registers(schedule, plan, schedule.split_k > 1);
}

int64_t meeting_waits(const schedules::Product& schedule, const ContractPlan& plan) {
  if (schedule.split_k == 1) return 0;
  const int64_t groups = (schedule.split_k + plan.gather - 1) / plan.gather, together = parts_at_once(schedule);
  const auto add = [&](int64_t count) { return 1 + std::max<int64_t>((count - 1 + together - 1) / together, 1); };
  return add(plan.gather) + (groups > 1 ? add(groups) : 0);
}

ContractTimes::ContractTimes(const schedules::Product& schedule, const ContractPlan& plan, const ProductWork& work,
                             const Target& target)
    : schedule_(schedule), plan_(plan), work_(work), target_(target) {
  const int64_t rows = schedule.tile[0], columns = schedule.tile[1], depth = schedule.tile[2];
  resident_ = resident(schedule, /*parts=*/false, plan, target);
  resident_of_parts_ = resident(schedule, /*parts=*/true, plan, target);
  const double vectors = target.flops / static_cast<double>(target.sm_count);
  fill_ =
      (fill_flops(plan.left, rows * depth, work.left) + fill_flops(plan.right, columns * depth, work.right)) / vectors;
  const bool waits = plan.left.packet == 0 || plan.right.packet == 0;
  latency_ = target.latency / static_cast<double>(waits ? 1 : schedule.stages - 1);
}

ContractTimes::Step ContractTimes::step(int64_t together) const {
  const int64_t rows = schedule_.tile[0], columns = schedule_.tile[1], depth = schedule_.tile[2];
  const double peak = plan_.multiplied != DType::f32 ? target_.tensor_flops
                      : plan_.tensor_cores           ? target_.tensor_flops / 2
                                                     : target_.fma_flops;
  const auto all = static_cast<double>(target_.sm_count), blocks = static_cast<double>(together);
  const double rate = peak * efficiency(schedule_, together, plan_.tensor_cores) / all;  // of one processor
  const double vectors = target_.flops / all;
  const double multiply = 2.0 * static_cast<double>(rows * columns * depth) / rate;
  // Everything that is copied comes from the last-level cache; each multiprocessor has its share of the bandwidth.
  const int64_t bytes = (rows + columns) * depth * bits(plan_.multiplied) / 8;
  const auto copied = static_cast<double>(bytes);
  const double supply = blocks * copied / (target_.cache_bandwidth / all);
  return {.blocks = together,
          .seconds = std::max({blocks * (multiply + fill_), supply, latency_}) + kStepSeconds,
          .results = blocks * static_cast<double>(rows * columns) * work_.result / vectors};
}

double ContractTimes::seconds() {
  const int64_t items = plan_.tiles * schedule_.split_k, processors = target_.sm_count;
  const int64_t most = schedule_.split_k > 1 ? resident_of_parts_ : resident_;
  const int64_t together = std::clamp<int64_t>((items + processors - 1) / processors, 1, most);
  const int64_t turns = (items + processors * together - 1) / (processors * together);
  if (last_.blocks != together) last_ = step(together);
  double seconds = 2 * target_.latency +
                   static_cast<double>(turns) * (static_cast<double>(plan_.steps) * last_.seconds + last_.results);
  if (schedule_.split_k > 1) seconds += meeting_seconds(schedule_, plan_, target_);
  return seconds;
}

double contract_seconds(const schedules::Product& schedule, const ContractPlan& plan, const ProductWork& work,
                        const Target& target) {
  return ContractTimes(schedule, plan, work, target).seconds();
}

}  // namespace heddle::ir
