// MemoryPlans: a training planned with more and more of its blocks computed again, and what each plan takes.
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
  int64_t state_bytes = 0, arena_bytes = 0, ring_bytes = 0;  // that a device allocates
  double step_seconds = 0;                                   // predicted, of the entry 'train'; 0: there is none
  int64_t peak_bytes() const { return state_bytes + arena_bytes + ring_bytes; }
};

// Nothing is refused: a plan may take more than any limit allows. The model must outlive this.
class MemoryPlans {
 public:
  MemoryPlans(Planned& planned, const CompileOptions& options);

  const frontend::PlannedMemory& memory() const { return built_.plan.memory; }
  // With the first so many of memory().others computed again, too. Each is planned once.
  const MemoryPlan& with(size_t others);
  // How many of them a training under the limit computes again; nothing where it is refused.
  std::optional<size_t> within(int64_t limit);
  // The least limit under which it trains; where it trains under `limit`, what it takes with all blocks may stand for it.
  int64_t least_bytes(int64_t limit);
  // The program of with(others) and its planned module, made anew.
  Compiled compiled(size_t others);
  int64_t made() const { return made_; }  // plans so far

 private:
  std::string name_;
  CompileOptions options_;
  Compiled built_;
  int64_t largest_tensor_ = 0, made_ = 0;
  std::map<size_t, MemoryPlan> plans_;
};

}  // namespace heddle::driver
