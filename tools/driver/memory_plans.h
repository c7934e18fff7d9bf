// MemoryPlans: plans a training with different numbers of blocks computed again in the backward sweep, and tells the
// memory and time of each plan.
//
//   MemoryPlans plans(planned, {.target = ir::host()});
//   plans.with(0)          -> {limit_bytes = 153136640, step_seconds = 0.142}
//   plans.within(60 << 20) -> 6: as plan_within would choose
#pragma once
#include <map>
#include <optional>

#include "tools/driver/compile.h"

namespace heddle::driver {

struct MemoryPlan {
  int64_t limit_bytes = 0;                                   // the least limit under which it trains
  int64_t state_bytes = 0, arena_bytes = 0, ring_bytes = 0;  // allocated on a device
  double step_seconds = 0;                                   // predicted, for the entry 'train'; 0: there is none
  int64_t peak_bytes() const { return state_bytes + arena_bytes + ring_bytes; }
};

// A plan may take more memory than any limit allows. The model must outlive this.
class MemoryPlans {
 public:
  MemoryPlans(Planned& planned, const CompileOptions& options);

  const frontend::PlannedMemory& memory() const { return built_.plan.memory; }
  // The plan with the first `others` of memory().others also computed again. Each plan is made once.
  const MemoryPlan& with(size_t others);
  // How many of them a training under the limit computes again; nothing where it does not fit.
  std::optional<size_t> within(int64_t limit);
  // The least limit under which the training fits. Where it fits under `limit`, the result may be larger: the memory
  // with all blocks computed again.
  int64_t least_bytes(int64_t limit);
  // Compiles the program of with(others), with its planned module.
  Compiled compiled(size_t others);
  int64_t made() const { return made_; }  // the number of plans made so far

 private:
  std::string name_;
  CompileOptions options_;
  Compiled built_;
  int64_t largest_tensor_ = 0, made_ = 0;
  std::map<size_t, MemoryPlan> plans_;
};

}  // namespace heddle::driver
