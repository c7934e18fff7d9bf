#include "runtime/process/exit_cleanup.h"

#include <signal.h>

#include <chrono>
#include <filesystem>
#include <thread>

namespace heddle::runtime {
namespace {

namespace fs = std::filesystem;

// A dying child or another thread may add a file while the folder is being removed, so try again.
void remove_for_good(const std::string& path) {
  constexpr int kAttempts = 200;
  std::error_code ec;
  for (int i = 0; i < kAttempts; ++i) {
    fs::remove_all(path, ec);
    if (fs::symlink_status(path, ec).type() == fs::file_type::not_found) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

ExitCleanup& exit_cleanup() {
  static ExitCleanup& all = *new ExitCleanup;
  return all;
}

void clean_up_for_exit() {
  ExitCleanup& all = exit_cleanup();
  all.mutex.lock();
  for (const pid_t child : all.children) kill(-child, SIGKILL);
  for (const std::string& path : all.temporaries) remove_for_good(path);
}

}  // namespace heddle::runtime
