#include "ir/kernel/count/counted_seconds.h"

#include <algorithm>
#include <cmath>

namespace heddle::ir {
namespace {

constexpr double kSector = 32;

double bandwidth(const Work& work, const Target& t) {
  return work.bytes <= static_cast<double>(t.cache_bytes) ? t.cache_bandwidth : t.bandwidth;
}

}  // namespace

int64_t resident_blocks(const KernelSchedule& schedule, const Target& target) {
  constexpr int64_t kOthers = 60, kPlain = 64, kMost = 255;
  const int64_t threads = generated(schedule).threads;
  const auto* product = std::get_if<schedules::Product>(&schedule.how);
  const int64_t registers =
      product != nullptr ? product->tile[0] * product->tile[1] / threads * 3 / 2 + kOthers : kPlain;
  return std::max<int64_t>(
      1, std::min(target.sm_threads / threads, target.sm_registers / (threads * std::min(registers, kMost))));
}

double least_seconds(const Work& work, const Target& target) {
  return std::max(work.bytes / bandwidth(work, target), work.flops / work.rate);
}

// A first-level cache answers what its multiprocessor has loaded before. If everything fits there, the last-level cache
// sees each byte at most once per multiprocessor. The multiprocessor with the most blocks determines the time; all
// blocks do the same work.
double counted_seconds(const KernelCounts& c, const KernelSchedule& schedule, const Work& work, const Target& t) {
  const auto blocks = static_cast<double>(c.blocks), processors = static_cast<double>(t.sm_count);
  const double busiest = std::ceil(blocks / processors), part = busiest / blocks;
  const double used = std::min(blocks, processors);
  const double sectors = (c.sectors_read + c.sectors_written) * kSector;
  const bool near = work.bytes <= static_cast<double>(t.l1_bytes);
  const double fetched = c.sectors_fetched * kSector, written = c.sectors_written * kSector;
  const double beyond = written + (near ? std::min(fetched, used * work.bytes) : fetched);
  const double together = std::min(busiest, static_cast<double>(resident_blocks(schedule, t)));
  const double warps = together * std::ceil(static_cast<double>(c.threads) / static_cast<double>(t.warp));
  // A warp that waits for its last result lets other warps run: eight warps keep four schedulers busy. A warp of a
  // product has many independent sums, so four warps suffice.
  constexpr double kSchedulers = 4;
  const double to_fill = std::holds_alternative<schedules::Product>(schedule.how) ? kSchedulers : 2 * kSchedulers;
  const double issue = t.sm_instructions * std::min(1.0, warps / to_fill);
  const double turns = std::ceil(busiest / together);
  const double far = c.dependent_loads - c.dependent_inside - c.dependent_after_last;
  const double throughput =
      std::max({least_seconds(work, t), beyond / bandwidth(work, t), sectors * part / t.sm_l1_bandwidth,
                c.shared_wavefronts * part / t.sm_wavefronts, c.instructions.total() * part / issue,
                c.instructions.values * part / t.sm_f32_instructions});
  const double waits = (far * t.latency + c.dependent_inside * (near ? t.l1_latency : t.latency)) * turns;
  return std::max(throughput + t.latency, waits) +
         c.dependent_after_last * t.latency;  // until the first answer all wait
}

}  // namespace heddle::ir
