#include "runtime/files/temporary.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "ir/diagnostic.h"
#include "runtime/process/exit_cleanup.h"

namespace heddle::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "heddle-", kSuffix = ".tmp";
constexpr size_t kDigits = 16;
constexpr int kAttempts = 100;  // to find a name that nobody has, or that no sweep takes before it is locked

std::string temporary_name() {
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) random = static_cast<uint64_t>(getpid());
  return fmt::format("{}{:016x}{}", kPrefix, random, kSuffix);
}

// Locks what was just made at `path`. False when a sweep of another process came in between and removed it.
bool lock_new(int fd, const std::string& path) {
  while (flock(fd, LOCK_EX) != 0 && errno == EINTR) {
  }
  struct stat opened {
  }, named{};
  return fstat(fd, &opened) == 0 && lstat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

// Removes nothing where it cannot get the lock, because another process holds it or the file system has no locks.
void remove_abandoned(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0 || info.st_uid != geteuid()) return;
  const bool folder = S_ISDIR(info.st_mode);
  if (!folder && !S_ISREG(info.st_mode)) return;
  const int fd = open(path.c_str(), (folder ? O_RDONLY : O_RDWR) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  std::error_code ec;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) fs::remove_all(path, ec);
  close(fd);
}

// Sweeps a folder once per process, because only earlier processes have left files there.
void sweep_once(const std::string& folder) {
  {
    static std::set<std::string>& swept = *new std::set<std::string>;
    const std::lock_guard lock(exit_cleanup().mutex);
    if (!swept.insert(folder).second) return;
  }
  sweep_temporaries(folder);
}

// $TMPDIR, or what the system has for it.
fs::path parent_of_folders() {
  std::error_code ec;
  fs::path parent = fs::temp_directory_path(ec);
  return ec ? "/tmp" : parent;
}

}  // namespace

bool is_temporary_name(std::string_view name) {
  if (name.size() != kPrefix.size() + kDigits + kSuffix.size() || !name.starts_with(kPrefix) ||
      !name.ends_with(kSuffix))
    return false;
  const std::string_view digits = name.substr(kPrefix.size(), kDigits);
  return std::all_of(digits.begin(), digits.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool leads_to_temporary_name(const std::string& path) {
  std::error_code ec;
  const std::filesystem::path link = std::filesystem::read_symlink(path, ec);
  return is_temporary_name((ec ? std::filesystem::path(path) : link).filename().string());
}

void sweep_temporaries(const std::string& folder) {
  std::error_code ec;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
    if (is_temporary_name(it->path().filename().string())) remove_abandoned(it->path().string());
}

void sweep_temporary_folders() { sweep_once(parent_of_folders().string()); }

TemporaryFolder::TemporaryFolder() {
  const fs::path parent = parent_of_folders();
  sweep_once(parent.string());
  const std::lock_guard lock(exit_cleanup().mutex);
  for (int i = 0; i < kAttempts && lock_ < 0; ++i) {
    path_ = (parent / temporary_name()).string();
    if (mkdir(path_.c_str(), 0700) != 0) {
      if (errno == EEXIST) continue;
      break;
    }
    lock_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock_ < 0 && errno != ENOENT) {
      const int reason = errno;
      rmdir(path_.c_str());
      errno = reason;
      break;
    }
    // Another process may have swept it away before it was locked.
    if (lock_ >= 0 && !lock_new(lock_, path_)) close(std::exchange(lock_, -1));
  }
  if (lock_ < 0) {
    throw UserError(ExitCode::failed,
                    fmt::format("cannot make the temporary folder {}: {}", path_, std::strerror(errno)),
                    "set TMPDIR to a folder that can be written");
  }
  exit_cleanup().temporaries.insert(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ec;
  const std::lock_guard lock(exit_cleanup().mutex);
  fs::remove_all(path_, ec);
  exit_cleanup().temporaries.erase(path_);
  close(lock_);
  if (ec) fs::remove_all(path_, ec);  // to look into a folder takes a descriptor: the lock's, where there was no other
}

TemporaryFile::TemporaryFile(const std::string& folder, const std::string& name) : name_(name) {
  sweep_once(folder);
  const std::lock_guard lock(exit_cleanup().mutex);
  for (int i = 0; i < kAttempts; ++i) {
    path_ = (fs::path(folder) / temporary_name()).string();
    file_ = std::make_unique<File>(path_, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0666, name);
    if (!lock_new(file_->descriptor(), path_)) continue;
    exit_cleanup().temporaries.insert(path_);
    return;
  }
  throw UserError(ExitCode::failed, fmt::format("{}: cannot be written: each draft of it disappears", name));
}

TemporaryFile::~TemporaryFile() {
  const std::lock_guard lock(exit_cleanup().mutex);
  if (exit_cleanup().temporaries.erase(path_) > 0) unlink(path_.c_str());
}

void TemporaryFile::rename_to(const std::string& path) {
  const std::lock_guard lock(exit_cleanup().mutex);
  if (rename(path_.c_str(), path.c_str()) != 0) throw_not_written(name_);
  exit_cleanup().temporaries.erase(path_);
}

}  // namespace heddle::runtime
