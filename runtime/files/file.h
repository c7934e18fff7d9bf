// File: an open file descriptor. Every failure throws a UserError that names the file and the system's reason.
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
  // `name` is the name in messages; empty: the path.
  File(const std::string& path, int flags, mode_t mode = 0, const std::string& name = {});
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int descriptor() const { return fd_; }
  int64_t size() const;  // bytes; throws unless it is a regular file
  void read(void* to, int64_t bytes);
  void write(const void* from, int64_t bytes);
  void sync();   // waits until the bytes are on the disk
  void close();  // some file systems report a failed write only here

 private:
  std::string name_;
  int fd_;
};

// Throws "NAME: WHAT: No space left on device", with the reason in errno.
[[noreturn]] void throw_errno(const std::string& name, const std::string& what, const std::string& help = {});
// Throws "NAME: cannot be written: No space left on device", with the reason in errno, and the remedy for it.
[[noreturn]] void throw_not_written(const std::string& name);

// The remedy where a file cannot be written for `reason`, an errno; "" where none is known.
std::string writing_remedy(int reason);

}  // namespace heddle::runtime
