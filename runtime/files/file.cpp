#include "runtime/files/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "ir/diagnostic.h"

namespace heddle::runtime {

void throw_errno(const std::string& name, const std::string& what, const std::string& help) {
  throw UserError(ExitCode::failed, fmt::format("{}: {}: {}", name, what, std::strerror(errno)), help);
}

std::string writing_remedy(int reason) {
  switch (reason) {
    case EROFS: return "name a file on another file system";
    case EACCES:
    case EPERM:
    case ENOENT:
    case ENOTDIR: return "name a file in a folder where files can be made";
    case EISDIR: return "name a file in it";
    case ENAMETOOLONG: return "give it a shorter name";
    case ENXIO: return "start what reads the pipe first";
    case EDQUOT:
    case ENOSPC: return "make room on its file system";
    default: return {};
  }
}

void throw_not_written(const std::string& name) { throw_errno(name, "cannot be written", writing_remedy(errno)); }

File::File(const std::string& path, int flags, mode_t mode, const std::string& name)
    : name_(name.empty() ? path : name), fd_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {
  const bool writes = (flags & O_ACCMODE) != O_RDONLY;
  if (fd_ < 0) throw_errno(name_, "cannot be opened", writes ? writing_remedy(errno) : "");
}

File::~File() {
  if (fd_ >= 0) ::close(fd_);
}

int64_t File::size() const {
  struct stat status {};
  if (::fstat(fd_, &status) != 0) throw_errno(name_, "cannot be examined");
  if (!S_ISREG(status.st_mode)) throw UserError(ExitCode::failed, name_ + ": not a regular file");
  return status.st_size;
}

void File::read(void* to, int64_t bytes) {
  for (auto* p = static_cast<char*>(to); bytes > 0;) {
    const ssize_t n = ::read(fd_, p, static_cast<size_t>(bytes));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_errno(name_, "cannot be read");
    if (n == 0) throw UserError(ExitCode::failed, name_ + ": truncated while it was read");
    p += n, bytes -= n;
  }
}

void File::write(const void* from, int64_t bytes) {
  for (const auto* p = static_cast<const char*>(from); bytes > 0;) {
    const ssize_t n = ::write(fd_, p, static_cast<size_t>(bytes));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_not_written(name_);
    p += n, bytes -= n;
  }
}

void File::sync() {
  if (::fsync(fd_) != 0) throw_not_written(name_);
}

void File::close() {
  if (fd_ >= 0 && ::close(std::exchange(fd_, -1)) != 0 && errno != EINTR) throw_not_written(name_);
}

}  // namespace heddle::runtime
