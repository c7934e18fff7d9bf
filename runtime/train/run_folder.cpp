#include "runtime/train/run_folder.h"

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
#include "runtime/files/write_file.h"

namespace heddle::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = "heddle-run.json", kPrefix = "checkpoint-", kSuffix = ".safetensors";
constexpr size_t kDigits = 12;

[[noreturn]] void refuse(const std::string& path, const std::string& what, const std::string& help) {
  throw UserError(ExitCode::failed, fmt::format("{}: {}", path, what), help);
}

bool is_checkpoint_name(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return false;
  name.remove_prefix(kPrefix.size()), name.remove_suffix(kSuffix.size());
  return name.size() >= kDigits && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

// Of names of checkpoints, or of paths in one folder: the step is larger.
bool is_later(const std::string& a, const std::string& b) { return a.size() != b.size() ? a.size() > b.size() : a > b; }

bool is_regular(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

// The names in the folder, but those of drafts.
std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  std::error_code ec;
  for (fs::directory_iterator it(path, ec), end; !ec && it != end; it.increment(ec))
    if (std::string name = it->path().filename().string(); !is_temporary_name(name)) names.push_back(std::move(name));
  if (ec) refuse(path, "cannot be read: " + ec.message(), "name a folder of your own");
  std::ranges::sort(names);
  return names;
}

// A file that somebody else removed meanwhile is no loss.
void remove_own(const std::string& path) {
  if (is_regular(path) && ::unlink(path.c_str()) != 0 && errno != ENOENT)
    refuse(path, fmt::format("cannot be removed: {}", std::strerror(errno)), "name another folder");
}

void make(const std::string& path, bool& made) {
  std::error_code ec, unknown;
  if (fs::exists(path, ec) && !fs::is_directory(path, ec)) refuse(path, "it is no folder", "name another for --run");
  const bool there = fs::is_directory(path, ec);
  if (!there) made = fs::create_directories(path, ec);
  if (!there && !fs::is_directory(path, unknown))
    refuse(path, "the folder cannot be made: " + ec.message(), "name a place where folders can be made");
}

// A child that a killed process has just started has its descriptors until it executes its own program: a moment, which
// is waited for.
int lock(const std::string& path) {
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
  if (reason == EWOULDBLOCK) refuse(path, "another process runs in this folder", "wait for it, or name another folder");
  refuse(path, fmt::format("cannot be locked: {}", std::strerror(reason)), "name a folder on another file system");
}

}  // namespace

RunFolder::RunFolder(const std::string& path) : path_(path) {
  while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
  make(path_, made_);
  lock_ = lock(path_);
  try {
    sweep_temporaries(path_);
    const std::vector<std::string> names = names_in(path_);
    if (!names.empty() && !has_run())
      refuse(path_, fmt::format("the folder holds no run, but '{}'", names.front()),
             "name an empty folder, or a new one");
    require_replaceable(at(std::string(kMark)));
  } catch (...) {
    ::close(lock_);
    if (made_) ::rmdir(path_.c_str());
    throw;
  }
}

RunFolder::~RunFolder() {
  if (made_) ::rmdir(path_.c_str());  // only where it is empty
  ::close(lock_);
}

bool RunFolder::has_run() const { return is_regular(at(std::string(kMark))); }

std::string RunFolder::checkpoint(int64_t step) const {
  return at(fmt::format("{}{:0{}}{}", kPrefix, step, kDigits, kSuffix));
}

std::vector<std::string> RunFolder::checkpoints() const {
  std::vector<std::string> names;
  for (std::string& name : names_in(path_))
    if (is_checkpoint_name(name) && is_regular(at(name))) names.push_back(std::move(name));
  std::ranges::sort(names, is_later);
  for (std::string& name : names) name = at(name);
  return names;
}

bool RunFolder::has_lost_checkpoints() const {
  const std::vector<std::string> names = names_in(path_);
  return std::ranges::none_of(names, is_checkpoint_name) && is_regular(last());
}

void RunFolder::clear() {
  if (!has_run()) return;
  for (const std::string& path : checkpoints()) remove_own(path);
  remove_own(best());
  remove_own(last());
}

void RunFolder::begin(std::string_view mark, std::string_view model) {
  replace_file(at(std::string(kMark)), {mark});
  replace_file(at("model.json"), {model});
}

void RunFolder::find_again() {
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

void RunFolder::keep_newest(int64_t keep, int64_t step, const std::vector<std::string>& kept) {
  std::vector<std::string> all = checkpoints();
  std::erase_if(all, [newest = checkpoint(step)](const std::string& path) { return is_later(path, newest); });
  for (size_t i = static_cast<size_t>(keep); i < all.size(); ++i)
    if (std::ranges::find(kept, all[i]) == kept.end()) remove_own(all[i]);
}

}  // namespace heddle::runtime
