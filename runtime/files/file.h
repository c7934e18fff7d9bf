// File: a file descriptor whose every failure is a UserError that names the file and the system's reason.
//
//   File file("weights.safetensors", O_RDONLY | O_NONBLOCK);
//   file.read(buffer, file.size());      // "weights.safetensors: truncated while it was read"
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>

namespace heddle::runtime {

class File {
 public:
  // `name` is what messages call it, where that is not the path.
  File(const std::string& path, int flags, mode_t mode = 0, const std::string& name = {});
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int descriptor() const { return fd_; }
  int64_t size() const;  // throws when it is not a regular file
  void read(void* to, int64_t bytes);
  void write(const void* from, int64_t bytes);
  void sync();   // until the bytes are on the disk
  void close();  // some file systems tell only now that a write failed

 private:
  std::string name_;
  int fd_;
};

// "NAME: WHAT: No space left on device", from errno.
[[noreturn]] void throw_errno(const std::string& name, const std::string& what, const std::string& help = {});
// "NAME: cannot be written: No space left on device", from errno, with its remedy.
[[noreturn]] void throw_not_written(const std::string& name);

// What to do where a file cannot be written for that reason of the system, an errno; "" where nothing is known.
std::string writing_remedy(int reason);

}  // namespace heddle::runtime
