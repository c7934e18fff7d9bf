// Handles signals without signal handlers. Every thread blocks SIGINT, SIGTERM, SIGHUP and SIGTSTP, and one thread
// waits for them.
//
//   watch_signals();               // first in main, before any thread
//   ...                            // here a signal ends the process: children and temporaries go, exit code 128 + signal
//   const InterruptGuard guard;    // from here on the first one is noted, and the training ends after its step
//   if (InterruptGuard::signal())  // 0, or its number
//   ...                            // a second one ends the process at once
//
// A handler could run on any thread. oneDNN's generated code uses the stack pointer as a general register, so the
// handler's frame would be written into the heap. A signal that is ignored when the process starts stays ignored
// (nohup). SIGTSTP also stops the children; they continue with the process. SIGQUIT and SIGCONT keep their usual
// meaning. SIGPIPE and SIGXFSZ are ignored, so that the write that would raise them fails with a message instead.
// SIGBUS comes from reading beyond the end of a mapped file; it prints an error and exits with code 1.
#pragma once

namespace heddle::tools {

// Throws UserError when the thread cannot be started.
void watch_signals();

// While a guard lives, the first signal is noted and does not end the process. There may be one guard at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  static int signal();  // the signal noted since the last guard was made, or 0
};

}  // namespace heddle::tools
