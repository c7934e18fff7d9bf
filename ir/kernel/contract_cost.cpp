#include "ir/kernel/contract_cost.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "ir/kernel/cost.h"

namespace heddle::ir {
namespace {

// Addresses and conditions of one copy to shared memory, in operations, as the PTX of convolutions has them: where a part
// is found once, without and with the borders of an image, and where all is found in each step.
constexpr double kKeptFlops = 10, kBorderFlops = 14, kCopyFlops = 50;
// Barriers and the loop around a step; the fence and the count where parts meet.
constexpr double kStepSeconds = 3e-8, kCountSeconds = 7e-7;

double work_below(const Graph& k, ValueId v, NodeId stop, std::set<NodeId>& seen) {
  const NodeId def = k[v].def;
  if (!def.valid() || def == stop || !seen.insert(def).second) return 0;
  double work = flops_per_point(*k[def].op);
  for (const ValueId o : k[def].operands) work += work_below(k, o, stop, seen);
  return work;
}

// Loads of a thread that are under way where parts meet.
constexpr int64_t kAtOnce = 128;

int64_t resident(const KernelForm& form, const ContractPlan& plan, const Target& target) {
  constexpr int64_t kReserved = 1024;  // of shared memory, by the system for each block
  return std::max<int64_t>(
      1, std::min({target.processor_shared / (plan.shared_bytes + kReserved),
                   target.processor_registers / (form.threads * std::min(product_registers(form), kMostRegisters)),
                   target.processor_threads / form.threads}));
}

// What part of its peak a processor reaches: in the time of four fma of a warp, shared memory gives it one word a thread,
// so that 4 x 4 sums wait for twice as many words as there are products; 8 x 8 do not. Its four schedulers want a warp
// each; the more warps there are, the less all wait for one.
double efficiency(const KernelForm& form, int64_t blocks, bool tensor_cores) {
  const double warps = static_cast<double>(blocks * form.threads) / 32;
  const int64_t sums = form.tile[0] * form.tile[1] / form.threads;
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

int64_t parts_at_once(const KernelForm& form) {
  return std::max<int64_t>(kAtOnce / (form.tile[0] * form.tile[1] / form.threads), 1);
}

// Every block writes its sums; the last of a group reads those of its parts, then the last of all those of the groups:
// as many at once as its registers take, as fast as one processor reads the last-level cache
// while others are idle: twice its share (64 bytes a cycle).
double meeting_seconds(const KernelForm& form, const ContractPlan& plan, const Target& target) {
  const int64_t sums = form.tile[0] * form.tile[1], groups = (form.parts + plan.gather - 1) / plan.gather;
  const auto bytes = static_cast<double>(sums * 4);
  const double one = 2 * target.cache_bandwidth / static_cast<double>(target.most_blocks);
  const auto together = static_cast<double>(parts_at_once(form));
  const auto add = [&](int64_t count) {
    const double turns = std::ceil(static_cast<double>(count) / together);
    return kCountSeconds + std::max(turns * 1.5 * target.latency, static_cast<double>(count) * bytes / one);
  };
  const double written = static_cast<double>(plan.tiles * form.parts) * bytes / target.cache_bandwidth;
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

int64_t product_registers(const KernelForm& form) {
  constexpr int64_t kOthers = 60;
  const int64_t sums = form.tile[0] * form.tile[1] / form.threads;
  return sums + std::max(sums / 2, form.parts > 1 ? kAtOnce : 0) + kOthers;
}

int64_t meeting_waits(const KernelForm& form, const ContractPlan& plan) {
  if (form.parts == 1) return 0;
  const int64_t groups = (form.parts + plan.gather - 1) / plan.gather, together = parts_at_once(form);
  const auto add = [&](int64_t count) { return 1 + std::max<int64_t>((count - 1 + together - 1) / together, 1); };
  return add(plan.gather) + (groups > 1 ? add(groups) : 0);
}

double contract_seconds(const KernelForm& form, const ContractPlan& plan, const ProductWork& work,
                        const Target& target) {
  const int64_t rows = form.tile[0], columns = form.tile[1], depth = form.tile[2];
  const int64_t items = plan.tiles * form.parts, processors = target.most_blocks;
  const int64_t together = std::clamp<int64_t>((items + processors - 1) / processors, 1, resident(form, plan, target));
  const int64_t turns = (items + processors * together - 1) / (processors * together);
  const auto waves = static_cast<double>(turns);
  const double peak = plan.multiplied != DType::f32 ? target.tensor_flops
                      : plan.tensor_cores           ? target.tensor_flops / 2
                                                    : target.fma_flops;
  const auto all = static_cast<double>(processors), blocks = static_cast<double>(together);
  const double rate = peak * efficiency(form, together, plan.tensor_cores) / all;  // of one processor
  const double vectors = target.flops / all;
  const double multiply = 2.0 * static_cast<double>(rows * columns * depth) / rate;
  const double fill =
      (fill_flops(plan.left, rows * depth, work.left) + fill_flops(plan.right, columns * depth, work.right)) / vectors;
  const bool waits = plan.left.packet == 0 || plan.right.packet == 0;
  const double latency = target.latency / static_cast<double>(waits ? 1 : form.stages - 1);
  // All that is copied comes from the cache, of which each processor has its share.
  const int64_t bytes = (rows + columns) * depth * bits(plan.multiplied) / 8;
  const auto copied = static_cast<double>(bytes);
  const double supply = blocks * copied / (target.cache_bandwidth / all);
  const double step = std::max({blocks * (multiply + fill), supply, latency}) + kStepSeconds;
  const double results = blocks * static_cast<double>(rows * columns) * work.result / vectors;
  double seconds = 2 * target.latency + waves * (static_cast<double>(plan.steps) * step + results);
  if (form.parts > 1) seconds += meeting_seconds(form, plan, target);
  return seconds;
}

}  // namespace heddle::ir
