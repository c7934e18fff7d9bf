#include "tools/driver/trials_folder.h"

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
#include <fstream>
#include <iterator>
#include <thread>

#include "frontend/json/json.h"
#include "ir/diagnostic.h"
#include "runtime/files/file.h"
#include "runtime/files/temporary.h"
#include "runtime/files/write_file.h"

namespace heddle::driver {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& what, const std::string& help) {
  throw UserError(ExitCode::failed, fmt::format("{}: {}", path, what), help);
}

bool is_regular(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
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
  if (reason == EWOULDBLOCK)
    refuse(path, "another process works in this folder", "wait for it, or name another folder");
  refuse(path, fmt::format("cannot be locked: {}", std::strerror(reason)), "name a folder on another file system");
}

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The lines that are whole, up to the first one that is not: a killed process, or a full disk, cuts the last.
std::vector<std::string> whole_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const SourceFile line{"row", text.substr(begin, end - begin)};
    try {
      if (frontend::parse_json(line).kind != frontend::Json::Kind::object) break;
    } catch (const UserError&) {
      break;
    }
    lines.push_back(line.text);
  }
  return lines;
}

std::string any_other(const std::string& path) {
  std::vector<std::string> names;
  std::error_code ec;
  for (fs::directory_iterator it(path, ec), end; !ec && it != end; it.increment(ec))
    if (std::string name = it->path().filename().string(); !runtime::is_temporary_name(name))
      names.push_back(std::move(name));
  if (ec) refuse(path, "cannot be read: " + ec.message(), "name a folder of your own");
  return names.empty() ? std::string() : *std::ranges::min_element(names);
}

}  // namespace

TrialsFolder::TrialsFolder(const std::string& path, const TrialsNames& names, bool resume, bool overwrite)
    : path_(path), names_(names) {
  while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
  std::error_code ec, unknown;
  if (fs::exists(path_, ec) && !fs::is_directory(path_, ec)) refuse(path_, "it is no folder", "name another");
  if (!fs::is_directory(path_, ec)) made_ = fs::create_directories(path_, ec);
  if (!fs::is_directory(path_, unknown))
    refuse(path_, "the folder cannot be made: " + ec.message(), "name a place where folders can be made");
  lock_ = lock(path_);
  try {
    runtime::sweep_temporaries(path_);
    read(resume, overwrite);
    runtime::require_replaceable(at(names_.mark));
  } catch (...) {
    ::close(lock_);
    if (made_) ::rmdir(path_.c_str());
    throw;
  }
}

void TrialsFolder::read(bool resume, bool overwrite) {
  if (!is_regular(at(names_.mark))) {
    if (const std::string other = any_other(path_); !other.empty())
      refuse(path_, fmt::format("the folder holds no {}, but '{}'", names_.what, other),
             "name an empty folder, or a new one");
    return;
  }
  if (!resume && !overwrite)
    refuse(path_, fmt::format("a {} lies in this folder", names_.what),
           "--resume continues it, --overwrite starts a new one; or name another folder");
  if (overwrite) return;
  mark_ = text_of(at(names_.mark));
  if (is_regular(at(names_.rows))) rows_ = whole_lines(text_of(at(names_.rows)));
}

TrialsFolder::~TrialsFolder() {
  if (made_) ::rmdir(path_.c_str());  // only where it is empty
  ::close(lock_);
}

// The old rows go before the new mark comes: none is ever taken for one of other trials.
void TrialsFolder::begin(const std::string& mark, const std::vector<std::string>& rows) {
  std::string text;
  for (const std::string& row : rows) text += row + "\n";
  // In a new folder the mark comes first: what lies in a folder without one is nobody's.
  if (!is_regular(at(names_.mark))) runtime::replace_file(at(names_.mark), {mark});
  runtime::replace_file(at(names_.rows), {text});
  runtime::replace_file(at(names_.mark), {mark});
  rows_ = rows;
}

void TrialsFolder::add(const std::string& row) {
  runtime::File file(at(names_.rows), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
  const std::string line = row + "\n";
  file.write(line.data(), static_cast<int64_t>(line.size()));
  file.sync();
  file.close();
  rows_.push_back(row);
}

}  // namespace heddle::driver
