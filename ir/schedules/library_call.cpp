// Schedule contract with a library, and schedule opaque: a library's call.
#include <fmt/format.h>

#include "ir/kernel/schedule_def.h"

namespace heddle::ir {

std::string library_conflict(const Graph& kernel) {
  const auto& schedule = std::get<schedules::LibraryCall>(kernel.schedule->how);
  if (schedule.impl.empty()) return "no library is named by impl";
  if (!kernel.schedule->misplaced.empty())
    return "a library's call has slices, a precision and a workspace, and no loops of its own";
  int contractions = 0, composites = 0;
  for (const NodeId n : kernel.order) {
    contractions += std::holds_alternative<Contraction>(kernel[n].op->kind) ? 1 : 0;
    composites += std::holds_alternative<Composite>(kernel[n].op->kind) ? 1 : 0;
  }
  if ((schedule.contraction ? contractions : composites) != 1 || contractions + composites != 1)
    return fmt::format("it holds {} contractions and {} composites, expected one {}", contractions, composites,
                       schedule.contraction ? "contraction" : "composite");
  return {};
}

const KernelScheduleDef<schedules::LibraryCall>& schedules::LibraryCall::def() {
  using Schedule = schedules::LibraryCall;
  static const KernelScheduleDef<Schedule> def = {
      .name = "opaque",
      .attributes = {{"impl", &Schedule::impl},
                     {"batch_split", &Schedule::batch_split, 1, kMostAtOnce},
                     {"precision", &Schedule::precision}},
      .traits = {.points_as_they_lie = false, .writes_over = WritesOver::nothing}};
  return def;
}

}  // namespace heddle::ir
