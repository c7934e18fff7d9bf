#include "runtime/files/locked_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "ir/diagnostic.h"
#include "runtime/files/temporary.h"

namespace heddle::runtime {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& what, const std::string& help) {
  throw UserError(ExitCode::failed, fmt::format("{}: {}", path, what), help);
}

void make(const std::string& path, const std::string& another, bool& made) {
  std::error_code ec, unknown;
  if (fs::exists(path, ec) && !fs::is_directory(path, ec)) refuse(path, "it is no folder", another);
  const bool there = fs::is_directory(path, ec);
  if (!there) made = fs::create_directories(path, ec);
  if (!there && !fs::is_directory(path, unknown))
    refuse(path, "the folder cannot be made: " + ec.message(), "name a place where folders can be made");
}

// A killed process may have just started a child, which holds its descriptors, and so the lock, until exec. This takes
// a moment, so we wait.
int lock(const std::string& path, const std::string& busy) {
  constexpr int kAttempts = 100;
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) refuse(path, fmt::format("cannot be read: {}", std::strerror(errno)), "name a folder of your own");
  int reason = 0;
  for (int i = 0; i < kAttempts; ++i) {
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
    reason = errno;
    if (reason != EWOULDBLOCK && reason != EINTR) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ::close(fd);
  if (reason == EWOULDBLOCK) refuse(path, busy, "wait for it, or name another folder");
  refuse(path, fmt::format("cannot be locked: {}", std::strerror(reason)), "name a folder on another file system");
}

}  // namespace

bool is_regular_file(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

LockedFolder::LockedFolder(const std::string& path, const FolderOwner& owner) : path_(path), mark_(owner.mark) {
  while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
  make(path_, owner.another, made_);
  lock_ = lock(path_, owner.busy);
  try {
    sweep_temporaries(path_);
    const std::vector<std::string> all = names();
    if (!all.empty() && !is_marked())
      refuse(path_, fmt::format("the folder holds no {}, but '{}'", owner.what, all.front()),
             "name an empty folder, or a new one");
  } catch (...) {
    leave();
    throw;
  }
}

LockedFolder::~LockedFolder() { leave(); }

void LockedFolder::leave() {
  if (made_) ::rmdir(path_.c_str());  // only where it is empty
  ::close(lock_);
}

std::vector<std::string> LockedFolder::names() const {
  std::vector<std::string> names;
  std::error_code ec;
  for (fs::directory_iterator it(path_, ec), end; !ec && it != end; it.increment(ec))
    if (std::string name = it->path().filename().string(); !is_temporary_name(name)) names.push_back(std::move(name));
  if (ec) refuse(path_, "cannot be read: " + ec.message(), "name a folder of your own");
  std::ranges::sort(names);
  return names;
}

void LockedFolder::find_again() {
  struct stat held {};
  const auto is_held = [&](const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && info.st_dev == held.st_dev && info.st_ino == held.st_ino;
  };
  if (::fstat(lock_, &held) != 0 || is_held(path_)) return;
  std::error_code ec;
  const std::string now = fs::read_symlink(fmt::format("/proc/self/fd/{}", lock_), ec).string();
  if (ec || !is_held(now))
    refuse(path_, "the folder was removed or replaced during the run", "nothing is written into another one");
  path_ = now;
}

}  // namespace heddle::runtime
