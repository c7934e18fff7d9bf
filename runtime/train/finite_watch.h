// FiniteWatch: keeps a recent copy of a training's states, so that the last steps can be replayed to find the first
// faulty one.
//
//   FiniteWatch watch(executable);
//   watch.begin();                          // all states are copied: what is in the parameters is finite
//   watch.look(12)  -> true                 // 12 steps later: nothing to do yet, or finite, and copied
//   watch.look(24)  -> false                // some parameter is not finite
//   watch.replay({.steps = 24, .run = one, .faulty = is_faulty}) -> 17
//                                           // the states are those before step 17 (from 0), which was faulty again
//
// Copying does not change the training. A copy is made when the time since the last one is at least 40 times what that
// copy took. So copies cost little even for large states, and few steps are replayed.
#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "runtime/executable.h"
#include "runtime/train/finite.h"

namespace heddle::runtime {

class FiniteWatch {
 public:
  explicit FiniteWatch(Executable& executable) : executable_(executable) {}
  // Starts the watch before the first of some steps. All parameters must be finite.
  void begin();
  // Called after `steps` of them have been executed or submitted. Returns false where a parameter is not finite.
  bool look(int64_t steps);

  struct Replay {
    int64_t steps = 0;                         // how many were executed
    std::function<void(int64_t step)> run;     // runs step `step`, counted from 0, on the current states
    std::function<bool(int64_t step)> faulty;  // whether the step was faulty, apart from its parameters
  };
  // Replays the steps from the last copy. Returns the first faulty step, with the states before it; nothing where no
  // step is faulty.
  std::optional<int64_t> replay(const Replay& replay);
  const std::optional<NotFinite>& parameter() const { return parameter_; }  // that was not finite at the last look

 private:
  using Clock = std::chrono::steady_clock;
  void copy(std::vector<std::byte>& to);
  void restore(const std::vector<std::byte>& from);
  bool is_finite(const std::vector<std::byte>& states);

  Executable& executable_;
  std::vector<std::byte> kept_, fresh_;
  std::optional<NotFinite> parameter_;
  int64_t kept_steps_ = 0;
  Clock::time_point last_;
  double cost_ = 0;  // seconds of the last copy
};

}  // namespace heddle::runtime
