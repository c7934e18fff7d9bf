// FiniteWatch: the states of a training as they were a moment ago, from which its last steps are done once more.
//
//   FiniteWatch watch(executable);
//   watch.begin();                          // all states are copied: what is in the parameters is finite
//   watch.look(12)  -> true                 // 12 steps later: nothing to do yet, or finite, and copied
//   watch.look(24)  -> false                // some parameter is not finite
//   watch.replay({.steps = 24, .run = one, .faulty = is_faulty}) -> 17
//                                           // the states are those before step 17 (from 0), which was faulty again
//
// A copy reads and changes nothing. It is made when the one before it took a fortieth of the time since then at most, so
// it costs a training little however large its states are, and few steps are done once more.
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
  // The states are those before the first of some steps, and no parameter holds what is not finite.
  void begin();
  // After so many of them, all executed or submitted: false where a parameter is not finite.
  bool look(int64_t steps);

  struct Replay {
    int64_t steps = 0;                         // that were executed
    std::function<void(int64_t step)> run;     // that one, from 0, with the states as they are
    std::function<bool(int64_t step)> faulty;  // whether the step that was run is; so is one that ruins a parameter
  };
  // The first faulty step; nothing where none is this time.
  std::optional<int64_t> replay(const Replay& replay);
  const std::optional<NotFinite>& parameter() const { return parameter_; }  // that was not finite when last looked at

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
