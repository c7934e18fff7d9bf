// schedule_conflict: checks a schedule against the kernel's plan, and finds attributes that belong to other schedules.
#include <fmt/format.h>

#include <algorithm>

#include "ir/kernel/schedule_def.h"

namespace heddle::ir {
namespace {

constexpr int64_t kWarp = 32, kMostPacket = 16;
constexpr int64_t kMostKeptColumns = int64_t{1} << 20;
constexpr int64_t kSharedBytes = int64_t{48} << 10;  // that a text may declare

std::string team_conflict(int64_t threads, int64_t team) {
  if (threads > kMostThreads || (threads > 1 && threads % kWarp != 0))
    return fmt::format("threads is {}, expected 1 or a multiple of {} up to {}", threads, kWarp, kMostThreads);
  const bool power = (team & (team - 1)) == 0;
  if (team != threads && (!power || team > kWarp || threads % team != 0))
    return fmt::format("team is {}, expected a power of two up to {} that divides the {} threads, or all of them", team,
                       kWarp, threads);
  return {};
}

std::string packet_conflict(int64_t packet, const KernelPlan& plan) {
  if (packet == 1) return {};
  if (packet > kMostPacket || (packet & (packet - 1)) != 0)
    return fmt::format("vector_width is {}, expected a power of two up to {}", packet, kMostPacket);
  // With several rows, each must start at a whole packet. A single row may end with a part of a packet.
  if (plan.rows > 1 ? plan.columns % packet != 0 : plan.columns < packet)
    return fmt::format("vector_width is {}, which does not divide rows of {} elements", packet, plan.columns);
  return {};
}
std::string packet_conflict(const KernelSchedule& schedule, const KernelPlan& plan) {
  if (std::holds_alternative<schedules::Product>(schedule.how)) return {};  // its plan has refused what does not fit
  const int64_t packet = value_or(schedule.misplaced, "vector_width", thread_work(schedule).vector_width);
  if (!traits_of(schedule).packets)
    return packet == 1 ? "" : fmt::format("a {} takes its elements one by one: vector_width is 1", to_string(schedule));
  return packet_conflict(packet, plan);
}

// With prefetching, a thread loads its packet of several rows before it computes; so it must have one packet per row.
std::string ahead_conflict(const KernelSchedule& schedule, const KernelPlan& plan) {
  const auto [team, packet, ahead] = thread_work(schedule);
  if (value_or(schedule.misplaced, "prefetch_distance", ahead) == 1) return {};
  if (ahead == 1 || generated(schedule).threads == 1 || packet == 1 || plan.span || plan.phases > 1)
    return "packets are loaded ahead by threads of schedule rows that pass over each row once";
  if (plan.columns > team * packet)
    return fmt::format("rows of {} elements are loaded ahead, which a team takes {} of at once", plan.columns,
                       team * packet);
  return {};
}

// The teams of a block meet in shared memory.
std::string sums_conflict(const schedules::Rows& schedule, const KernelPlan& plan) {
  if (plan.partials.empty()) return {};
  if (schedule.blocks == 0) return "partial results are summed up: blocks must be fixed";
  if (const int64_t sums = plan.partial_bytes / schedule.blocks;
      schedule.team < schedule.threads && sums > kSharedBytes)
    return fmt::format("the sums of a block's columns take {} bytes of shared memory, of {}", sums, kSharedBytes);
  return {};
}

}  // namespace

std::string schedule_conflict(const KernelSchedule& schedule, const KernelPlan& plan) {
  const auto misplaced = [&](const auto&... names) { return (schedule.misplaced.contains(names) || ...); };
  const schedules::Generated& text = generated(schedule);
  const auto* rows = std::get_if<schedules::Rows>(&schedule.how);
  if (misplaced("impl", "batch_split")) return "impl and batch_split are those of a library's call";
  if (misplaced("precision")) return "precision is that of products";
  if (misplaced("tile", "stages", "split_k")) return "tile, stages and split_k are those of schedule contract";
  const int64_t team = value_or(schedule.misplaced, "team", thread_work(schedule).team);
  if (std::string reason = team_conflict(text.threads, team); !reason.empty()) return reason;
  if (misplaced("team")) return "only threads of schedule rows share a row";
  if (std::string reason = packet_conflict(schedule, plan); !reason.empty()) return reason;
  if (std::string reason = ahead_conflict(schedule, plan); !reason.empty()) return reason;
  if (text.index == 32 && plan.largest_index >= int64_t{1} << 31)
    return fmt::format("an index may reach {}: index = 64 is needed", plan.largest_index);
  if (rows != nullptr)
    if (std::string reason = sums_conflict(*rows, plan); !reason.empty()) return reason;
  if (schedule.workspace < plan.partial_bytes)
    return fmt::format("workspace is {}, but partial results take {} bytes", schedule.workspace, plan.partial_bytes);
  if (misplaced("cached")) return "only schedule rows passes over a row more than once";
  if (misplaced("blocks") && std::holds_alternative<schedules::Product>(schedule.how))
    return "tiles are taken by any number of blocks";
  if (rows != nullptr && rows->columns() > kMostKeptColumns &&
      (rows->cached || has_reduction(plan, ReductionPlan::column)))
    return fmt::format("{} columns are more than a block keeps", rows->columns());
  return {};
}

}  // namespace heddle::ir
