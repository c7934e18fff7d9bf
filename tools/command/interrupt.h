// Ctrl-C asks for an end instead of being one: the step in progress finishes, weights are saved, the exit code tells.
#pragma once

namespace heddle::tools {

// While it lives, SIGINT and SIGTERM are noted; the second one ends the process.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  static int signal();  // the signal noted, or 0
};

}  // namespace heddle::tools
