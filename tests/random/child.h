// Runs work in a child process, so that a crash, a failed HEDDLE_CHECK or an endless loop is a result like any other.
#pragma once
#include <functional>
#include <string>

namespace heddle::testing {

struct ChildResult {
  bool ended = false;  // by itself, with exit code 0
  std::string how;     // "signal 11", "took longer than 60 s"
  std::string output;  // all that it printed, to standard error as well
};

// `work` prints; the deadline counts wall time.
ChildResult run_in_child(const std::function<void()>& work, unsigned seconds);

}  // namespace heddle::testing
