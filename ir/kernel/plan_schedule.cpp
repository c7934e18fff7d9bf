#include "ir/kernel/plan_schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/kernel/access.h"
#include "ir/kernel/columns_meet.h"
#include "ir/kernel/plan_kept.h"

namespace heddle::ir {
namespace {

// What CUDA takes, whatever the device.
constexpr int64_t kMostThreads = 1024, kWarp = 32, kMostPacket = 16;
constexpr int64_t kMostKeptColumns = int64_t{1} << 20;
constexpr int64_t kWorkersPoints = 1024;
constexpr int64_t kSharedBytes = int64_t{48} << 10;  // that a text may declare

bool any(const KernelPlan& plan, ReductionPlan kind) {
  return std::any_of(plan.values.begin(), plan.values.end(), [&](const ValuePlan& p) { return p.reduction == kind; });
}

bool spans(const Graph& k, const KernelPlan& plan) {
  return k.form->kind == KernelForm::Kind::rows && plan.rows == 1 && any(plan, ReductionPlan::total) &&
         !any(plan, ReductionPlan::row);
}

// Some source makes its elements from (seed, step, element), rows are whole groups of them, and no window is read at
// each: that would be read in strides. Nor is anything read under a guard: of guarded reads of neighbours g++ 12 makes
// masked vectors that take other elements, or none.
bool draws(const Graph& k, const KernelPlan& plan) {
  if (k.form->kind != KernelForm::Kind::pointwise || plan.columns % kDrawnAtOnce != 0) return false;
  if (any(plan, ReductionPlan::inner) || plan.guarded) return false;
  return std::any_of(k.order.begin(), k.order.end(), [&](NodeId n) {
    const auto* source = std::get_if<Source>(&k[n].op->kind);
    return source != nullptr && mentions(source->expr, "i");
  });
}

// Accumulator by accumulator, each block's behind the other's, each array on 16 bytes.
void plan_partials(const Graph& k, KernelPlan& plan) {
  for (const NodeId n : k.order) {
    const ReductionPlan kind = plan.values[static_cast<size_t>(k[n].results[0].index)].reduction;
    if (kind != ReductionPlan::column && kind != ReductionPlan::total) continue;
    const int64_t width = kind == ReductionPlan::column ? plan.columns : 1;
    plan.partials.push_back({n, plan.partial_bytes, width});
    const int64_t bytes = accumulator_bytes(signature(k, k[n])) * width * std::max<int64_t>(k.form->blocks, 1);
    plan.partial_bytes += (bytes + 15) / 16 * 16;
  }
}

int64_t parts(int64_t n, int64_t part) { return (n + part - 1) / part; }

// One counter for all blocks, or of groups one for each and one for them.
void plan_meeting(const Graph& k, KernelPlan& plan) {
  if (plan.partials.empty()) return;
  const int64_t blocks = std::max<int64_t>(k.form->blocks, 1);
  std::vector<int64_t> bytes;
  for (const Partials& p : plan.partials)
    if (plan.values[static_cast<size_t>(k[p.reduction].results[0].index)].reduction == ReductionPlan::column)
      bytes.push_back(accumulator_bytes(signature(k, k[p.reduction])));
  const int64_t gather = blocks_gather(k.form->threads, blocks, plan.columns, bytes);
  plan.gather = gather < blocks ? gather : 0;
  plan.counters = plan.gather > 0 ? 1 + parts(blocks, gather) : 1;
}

// A block takes at least one packet or row for each of its threads or teams. Where it is one thread, a worker of the
// host, it takes what is worth waking a worker for.
int64_t most_blocks(const KernelForm& form, const KernelPlan& plan) {
  if (!plan.partials.empty()) return std::max<int64_t>(form.blocks, 1);
  const int64_t points = form.threads == 1 ? kWorkersPoints : 1;
  if (form.kind == KernelForm::Kind::rows && !plan.span)
    return parts(plan.rows, std::max(form.threads / form.team, parts(points, std::max<int64_t>(plan.columns, 1))));
  const int64_t packets = plan.rows * parts(plan.columns, form.packet);
  return parts(packets, std::max(form.threads, parts(points, form.packet)));
}

}  // namespace

void plan_schedule(const Graph& k, KernelPlan& plan) {
  plan.span = spans(k, plan);
  plan.draws = draws(k, plan);
  if (k.form->kind == KernelForm::Kind::contract || k.form->kind == KernelForm::Kind::primitive) return;
  plan_partials(k, plan);
  plan_meeting(k, plan);
  if (k.form->cached) plan.kept = plan_kept(k, plan);
  if (k.form->kind != KernelForm::Kind::tile) plan.most_blocks = std::max<int64_t>(most_blocks(*k.form, plan), 1);
}

namespace {

std::string team_conflict(const KernelForm& form) {
  const int64_t threads = form.threads, team = form.team;
  if (threads > kMostThreads || (threads > 1 && threads % kWarp != 0))
    return fmt::format("threads is {}, expected 1 or a multiple of {} up to {}", threads, kWarp, kMostThreads);
  const bool power = (team & (team - 1)) == 0;
  if (team != threads && (!power || team > kWarp || threads % team != 0))
    return fmt::format("team is {}, expected a power of two up to {} that divides the {} threads, or all of them", team,
                       kWarp, threads);
  if (team > 1 && form.kind != KernelForm::Kind::rows) return "only threads of form rows share a row";
  return {};
}

std::string packet_conflict(const KernelForm& form, const KernelPlan& plan) {
  if (form.packet == 1 || form.kind == KernelForm::Kind::contract) return {};
  if (form.kind == KernelForm::Kind::tile) return "a tile takes its elements one by one: packet is 1";
  if (form.packet > kMostPacket || (form.packet & (form.packet - 1)) != 0)
    return fmt::format("packet is {}, expected a power of two up to {}", form.packet, kMostPacket);
  // Each of several rows starts on a whole packet; one alone may end in a part of one.
  if (plan.rows > 1 ? plan.columns % form.packet != 0 : plan.columns < form.packet)
    return fmt::format("packet is {}, which does not divide rows of {} elements", form.packet, plan.columns);
  return {};
}

// A thread loads packets of several rows before it computes: its one packet of each.
std::string ahead_conflict(const KernelForm& form, const KernelPlan& plan) {
  if (form.ahead == 1) return {};
  if (form.kind != KernelForm::Kind::rows || form.threads == 1 || form.packet == 1 || plan.span || plan.phases > 1)
    return "packets are loaded ahead by threads of form rows that pass over each row once";
  if (plan.columns > form.team * form.packet)
    return fmt::format("rows of {} elements are loaded ahead, which a team takes {} of at once", plan.columns,
                       form.team * form.packet);
  return {};
}

}  // namespace

std::string library_conflict(const Graph& kernel) {
  const KernelForm& form = *kernel.form;
  if (!form.is_library()) return "no library is named by impl";
  KernelForm call;
  call.kind = form.kind, call.impl = form.impl;
  call.slices = form.slices, call.precision = form.precision, call.workspace = form.workspace;
  if (!(call == form)) return "a library's call has slices, a precision and a workspace, and no schedule of its own";
  int contractions = 0, composites = 0;
  for (const NodeId n : kernel.order) {
    contractions += std::holds_alternative<Contraction>(kernel[n].op->kind) ? 1 : 0;
    composites += std::holds_alternative<Composite>(kernel[n].op->kind) ? 1 : 0;
  }
  const bool contract = form.kind == KernelForm::Kind::contract;
  if ((contract ? contractions : composites) != 1 || contractions + composites != 1)
    return fmt::format("it holds {} contractions and {} composites, expected one {}", contractions, composites,
                       contract ? "contraction" : "composite");
  return {};
}

bool is_single(const KernelPlan& plan, const ValuePlan& value) {
  return value.extent == Extent::scalar || (value.extent == Extent::row && plan.span && !value.finishing);
}

std::string form_conflict(const KernelForm& form, const KernelPlan& plan) {
  const bool contract = form.kind == KernelForm::Kind::contract;
  if (form.is_library() || form.slices != 1) return "impl and slices are those of a library's call";
  if (!contract && form.precision != ProductPrecision::f32) return "precision is that of products";
  if (!contract && (!form.tile.empty() || form.stages != 1 || form.parts != 1))
    return "tile, stages and parts are those of form contract";
  if (std::string reason = team_conflict(form); !reason.empty()) return reason;
  if (std::string reason = packet_conflict(form, plan); !reason.empty()) return reason;
  if (std::string reason = ahead_conflict(form, plan); !reason.empty()) return reason;
  if (form.index == 32 && plan.largest_index >= int64_t{1} << 31)
    return fmt::format("an index may reach {}: index = 64 is needed", plan.largest_index);
  if (!plan.partials.empty() && form.blocks == 0) return "partial results are summed up: blocks must be fixed";
  // The teams of a block meet in shared memory; the scratch of a primitive lies elsewhere.
  if (const int64_t sums = plan.partial_bytes / std::max<int64_t>(form.blocks, 1);
      !contract && !plan.partials.empty() && form.team < form.threads && sums > kSharedBytes)
    return fmt::format("the sums of a block's columns take {} bytes of shared memory, of {}", sums, kSharedBytes);
  if (form.workspace < plan.partial_bytes)
    return fmt::format("workspace is {}, but partial results take {} bytes", form.workspace, plan.partial_bytes);
  if (form.cached && form.kind != KernelForm::Kind::rows) return "only form rows passes over a row more than once";
  if (contract && form.blocks != 0) return "tiles are taken by any number of blocks";
  if (form.columns() > kMostKeptColumns && (form.cached || any(plan, ReductionPlan::column)))
    return fmt::format("{} columns are more than a block keeps", form.columns());
  return {};
}

}  // namespace heddle::ir
