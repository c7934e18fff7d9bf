#include "ir/read_text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "ir/diagnostic.h"

namespace heddle {
namespace {

class Input {
 public:
  Input(const std::string& path, std::string shown) : shown_(std::move(shown)), owned_(path != "-") {
    // Without O_NONBLOCK, opening a pipe without a writer would block forever.
    fd_ = owned_ ? ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : STDIN_FILENO;
    if (fd_ < 0) fail(std::strerror(errno));
  }
  ~Input() {
    if (owned_ && fd_ >= 0) ::close(fd_);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  [[noreturn]] void fail(const std::string& reason, const std::string& help = {}) const {
    throw UserError(ExitCode::failed, fmt::format("cannot read {}: {}", shown_, reason), help);
  }

  void check_kind() const {
    struct stat info {};
    if (!owned_ || ::fstat(fd_, &info) != 0 || S_ISREG(info.st_mode)) return;
    if (S_ISDIR(info.st_mode)) fail(std::strerror(EISDIR));
    fail(S_ISFIFO(info.st_mode) ? "it is a pipe, expected a file" : "it is a device, expected a file",
         "give - for the file, and the text on standard input");
  }

  size_t read(char* to, size_t bytes) const {
    ssize_t n = 0;
    while ((n = ::read(fd_, to, bytes)) < 0)
      if (errno != EINTR) fail(std::strerror(errno));
    return static_cast<size_t>(n);
  }

 private:
  std::string shown_;
  bool owned_;
  int fd_ = -1;
};

}  // namespace

std::string read_text(const std::string& path, const std::string& shown, size_t most) {
  const Input input(path, shown);
  input.check_kind();
  std::string text;
  std::array<char, 1 << 16> block;
  for (size_t n = 0; (n = input.read(block.data(), block.size())) > 0;) {
    text.append(block.data(), n);
    if (text.size() > most)
      throw UserError(ExitCode::limit,
                      fmt::format("{} is larger than {} MiB, the limit of such a file", shown, most >> 20));
  }
  return text;
}

}  // namespace heddle
