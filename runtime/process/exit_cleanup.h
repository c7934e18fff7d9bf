// Registers temporaries and running children, which are removed and killed when the process ends in the middle of its
// work.
//
//   const std::lock_guard lock(exit_cleanup().mutex);   // whoever makes or removes one holds the lock while it does
//   exit_cleanup().temporaries.insert(path);
//
//   clean_up_for_exit();   // another thread, just before _exit: all are gone, and no thread can make a new one
#pragma once
#include <sys/types.h>

#include <mutex>
#include <set>
#include <string>

namespace heddle::runtime {

struct ExitCleanup {
  std::mutex mutex;
  std::set<std::string> temporaries;  // files and folders
  std::set<pid_t> children;           // each leads a process group; a child is also reaped under the lock
};
// Never destroyed, because threads use it until the process ends.
ExitCleanup& exit_cleanup();

// Kills the children with their process groups, and removes the temporaries. The lock is kept: the caller ends the
// process next, and any thread that asks for the lock waits until then.
void clean_up_for_exit();

}  // namespace heddle::runtime
