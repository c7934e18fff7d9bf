#include "tools/driver/memory_plans.h"

#include <algorithm>

#include "codegen/predict.h"
#include "passes/memory/room.h"
#include "tools/driver/plan_within.h"

namespace heddle::driver {
namespace {

constexpr int64_t kNoLimit = int64_t{1} << 50;

CompileOptions without_limit(CompileOptions options) {
  options.memory_bytes = kNoLimit;
  options.predict = true;
  options.remark = {}, options.after = {};
  return options;
}

double step_seconds(const codegen::Program& program) {
  const codegen::Entry* train = program.find_entry(ir::Phase::train);
  if (train == nullptr) return 0;
  double seconds = 0;
  for (const codegen::Step& step : train->steps) seconds += codegen::predicted_seconds(program, step);
  return seconds;
}

}  // namespace

MemoryPlans::MemoryPlans(Planned& planned, const CompileOptions& options)
    : name_(planned.model().name),
      options_(without_limit(options)),
      built_(build(planned, options_)),
      largest_tensor_(passes::largest_tensor(built_.module)) {}

const MemoryPlan& MemoryPlans::with(size_t others) {
  const auto known = plans_.find(others);
  if (known != plans_.end()) return known->second;
  compiled(others);
  return plans_.at(others);
}

Compiled MemoryPlans::compiled(size_t others) {
  Compiled made = built_;
  made.module = planned_with(std::move(made.module), memory(), others, options_, built_.fed);
  made.program = lower(made.module, name_, options_);
  const codegen::Program& program = made.program;
  plans_[others] = {.limit_bytes = std::max(largest_tensor_, passes::planned_bytes(made.module)),
                    .state_bytes = program.state_bytes,
                    .arena_bytes = program.arena_bytes,
                    .ring_bytes = program.feeding.ring_bytes(),
                    .step_seconds = step_seconds(program)};
  ++made_;
  return made;
}

std::optional<size_t> MemoryPlans::within(int64_t limit) {
  return fewest_that_fit(memory().others.size(), [&](size_t others) { return with(others).limit_bytes <= limit; });
}

int64_t MemoryPlans::least_bytes(int64_t limit) {
  const size_t blocks = memory().others.size();
  int64_t least = with(blocks).limit_bytes;
  if (least > limit && blocks > 1) least = std::min(least, with(blocks - 1).limit_bytes);
  return least <= limit ? least : std::min(least, with(0).limit_bytes);
}

}  // namespace heddle::driver
