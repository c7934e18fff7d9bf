// What a form says, held against the kernel's plan; and what its text says that only others have.
#include <fmt/format.h>

#include <algorithm>

#include "ir/kernel/form_def.h"
#include "ir/visit.h"

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
    return fmt::format("packet is {}, expected a power of two up to {}", packet, kMostPacket);
  // Each of several rows starts on a whole packet; one alone may end in a part of one.
  if (plan.rows > 1 ? plan.columns % packet != 0 : plan.columns < packet)
    return fmt::format("packet is {}, which does not divide rows of {} elements", packet, plan.columns);
  return {};
}
std::string packet_conflict(const KernelForm& form, const KernelPlan& plan) {
  const int64_t packet = value_or(form.misplaced, "packet", thread_work(form).packet);
  return visit_form(
      form,
      [&](const forms::Tile&) {
        return std::string(packet == 1 ? "" : "a tile takes its elements one by one: packet is 1");
      },
      [&](const OneOf<forms::Pointwise, forms::Rows, forms::Primitive> auto&) { return packet_conflict(packet, plan); },
      [](const OneOf<forms::Product, forms::LibraryCall> auto&) { return std::string(); });
}

// A thread loads packets of several rows before it computes: its one packet of each.
std::string ahead_conflict(const KernelForm& form, const KernelPlan& plan) {
  const auto [team, packet, ahead] = thread_work(form);
  if (value_or(form.misplaced, "ahead", ahead) == 1) return {};
  if (ahead == 1 || generated(form).threads == 1 || packet == 1 || plan.span || plan.phases > 1)
    return "packets are loaded ahead by threads of form rows that pass over each row once";
  if (plan.columns > team * packet)
    return fmt::format("rows of {} elements are loaded ahead, which a team takes {} of at once", plan.columns,
                       team * packet);
  return {};
}

// The teams of a block meet in shared memory.
std::string sums_conflict(const forms::Rows& form, const KernelPlan& plan) {
  if (plan.partials.empty()) return {};
  if (form.blocks == 0) return "partial results are summed up: blocks must be fixed";
  if (const int64_t sums = plan.partial_bytes / form.blocks; form.team < form.threads && sums > kSharedBytes)
    return fmt::format("the sums of a block's columns take {} bytes of shared memory, of {}", sums, kSharedBytes);
  return {};
}

}  // namespace

std::string form_conflict(const KernelForm& form, const KernelPlan& plan) {
  const auto misplaced = [&](const auto&... names) { return (form.misplaced.contains(names) || ...); };
  const forms::Generated& text = generated(form);
  const auto* rows = std::get_if<forms::Rows>(&form.how);
  if (misplaced("impl", "slices")) return "impl and slices are those of a library's call";
  if (misplaced("precision")) return "precision is that of products";
  if (misplaced("tile", "stages", "parts")) return "tile, stages and parts are those of form contract";
  const int64_t team = value_or(form.misplaced, "team", thread_work(form).team);
  if (std::string reason = team_conflict(text.threads, team); !reason.empty()) return reason;
  if (misplaced("team")) return "only threads of form rows share a row";
  if (std::string reason = packet_conflict(form, plan); !reason.empty()) return reason;
  if (std::string reason = ahead_conflict(form, plan); !reason.empty()) return reason;
  if (text.index == 32 && plan.largest_index >= int64_t{1} << 31)
    return fmt::format("an index may reach {}: index = 64 is needed", plan.largest_index);
  if (rows != nullptr)
    if (std::string reason = sums_conflict(*rows, plan); !reason.empty()) return reason;
  if (form.workspace < plan.partial_bytes)
    return fmt::format("workspace is {}, but partial results take {} bytes", form.workspace, plan.partial_bytes);
  if (misplaced("cached")) return "only form rows passes over a row more than once";
  if (misplaced("blocks") && std::holds_alternative<forms::Product>(form.how))
    return "tiles are taken by any number of blocks";
  if (rows != nullptr && rows->columns() > kMostKeptColumns &&
      (rows->cached || has_reduction(plan, ReductionPlan::column)))
    return fmt::format("{} columns are more than a block keeps", rows->columns());
  return {};
}

}  // namespace heddle::ir
