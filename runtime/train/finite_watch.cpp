#include "runtime/train/finite_watch.h"

#include <utility>

namespace heddle::runtime {
namespace {

constexpr double kMostShare = 1.0 / 40;  // of the time, for copies

codegen::Buffer all_states(const codegen::Program& program) {
  codegen::Buffer all;
  all.bytes = program.state_bytes;
  all.at = {.segment = codegen::Segment::state, .offset = 0};
  return all;
}

}  // namespace

void FiniteWatch::copy(std::vector<std::byte>& to) {
  to.resize(static_cast<size_t>(executable_.program().state_bytes));
  executable_.read(all_states(executable_.program()), to.data());
}

void FiniteWatch::restore(const std::vector<std::byte>& from) {
  executable_.write(all_states(executable_.program()), from.data());
}

bool FiniteWatch::is_finite(const std::vector<std::byte>& states) {
  parameter_ = parameter_not_finite(executable_.program(), states);
  return !parameter_;
}

void FiniteWatch::begin() {
  copy(kept_);
  kept_steps_ = 0;
  last_ = Clock::now();
}

bool FiniteWatch::look(int64_t steps) {
  const Clock::time_point begin = Clock::now();
  if (steps == kept_steps_ || std::chrono::duration<double>(begin - last_).count() * kMostShare < cost_) return true;
  copy(fresh_);
  if (!is_finite(fresh_)) return false;
  std::swap(kept_, fresh_);
  kept_steps_ = steps;
  last_ = Clock::now();
  cost_ = std::chrono::duration<double>(last_ - begin).count();
  return true;
}

std::optional<int64_t> FiniteWatch::replay(const Replay& replay) {
  restore(kept_);
  for (int64_t step = kept_steps_; step < replay.steps; ++step) {
    copy(kept_);
    replay.run(step);
    copy(fresh_);
    const bool finite = is_finite(fresh_);
    if (!finite || replay.faulty(step)) return restore(kept_), step;
  }
  return std::nullopt;
}

}  // namespace heddle::runtime
