// What must be undone when the process ends at once, in the middle of anything: temporaries and running children.
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
  std::set<pid_t> children;           // each leads a process group; a child is reaped under the lock, too
};
// Never destroyed: threads use it until the very end.
ExitCleanup& exit_cleanup();

// Kills the children with what they started and removes the temporaries. The lock is kept for ever: the caller ends the
// process next, and a thread that asks for it meanwhile waits.
void clean_up_for_exit();

}  // namespace heddle::runtime
