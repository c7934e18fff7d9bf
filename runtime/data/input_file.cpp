#include "runtime/data/input_file.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace heddle::runtime::data {

InputFile::InputFile(const std::filesystem::path& file, std::string name, const Location& where)
    : name_(std::move(name)), where_(where), file_(gzopen(file.c_str(), "rb")) {
  if (!file_) fail("cannot be opened");
  gzbuffer(file_.get(), 1 << 18);
}

InputFile::InputFile(int descriptor, std::string name, const Location& where)
    : name_(std::move(name)), where_(where), descriptor_(descriptor) {}

bool InputFile::ready() const {
  if (descriptor_ < 0) return true;
  struct pollfd state {
    descriptor_, POLLIN, 0
  };
  return ::poll(&state, 1, 0) == 1;
}

void InputFile::fail(const std::string& message, const std::string& help) const {
  throw UserError(where_, fmt::format("{}: {}", name_, message), help);
}

size_t InputFile::read(std::byte* to, size_t size) {
  if (descriptor_ >= 0) {
    for (;;) {
      const ssize_t got = ::read(descriptor_, to, size);
      if (got >= 0) return static_cast<size_t>(got);
      if (errno != EINTR) fail(fmt::format("cannot be read: {}", std::strerror(errno)));
    }
  }
  size_t done = 0;
  while (done < size) {
    const unsigned step = static_cast<unsigned>(std::min<size_t>(size - done, 1 << 26));
    const int got = gzread(file_.get(), to + done, step);
    int code = Z_OK;
    const char* text = gzerror(file_.get(), &code);
    if (code == Z_BUF_ERROR) fail("compressed data ends early");
    if (got < 0) fail(fmt::format("compressed data is damaged ({})", text));
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

}  // namespace heddle::runtime::data
