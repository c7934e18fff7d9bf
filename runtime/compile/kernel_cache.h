// KernelCache: compiled code on disk, one file per entry, shared by any number of processes.
//
//   key = cache_key({source, options, compiler, processor})      -> "9f86d081884c7d65..." (xxHash, 128 bits)
//   ~/.cache/heddle/kernels/9f86d081884c7d65....so = content + trailer {mark, key, hash of the content, length}
//
// An entry is read and checked in full before it is used. A truncated or altered entry counts as absent and is written
// again. Files appear by rename, so a reader never sees a part of a file.
//
// A file in the folder marks it as the cache's. A folder that has other files and no mark is not touched. In a marked
// folder, the cache removes and replaces only regular files whose names have the form of its own.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::runtime {

// Returns 32 hexadecimal digits. Parts are hashed with their lengths: {"ab", "c"} and {"a", "bc"} differ.
std::string cache_key(std::initializer_list<std::string_view> parts);

// Returns $HEDDLE_CACHE, else $XDG_CACHE_HOME/heddle/kernels, else ~/.cache/heddle/kernels. Without a home folder, it
// is a folder of this user under /tmp.
std::string kernel_cache_folder();

class KernelCache {
 public:
  static constexpr int64_t kLimit = int64_t{512} << 20;

  // Makes and marks the folder when it is missing or empty. Where that fails, or the folder belongs to another user or
  // holds other files, the cache finds and stores nothing. `limit`: bytes; the entries that were used longest ago are
  // removed first.
  explicit KernelCache(std::string folder, int64_t limit = kLimit);

  // Why the folder is not used; "" where it is used.
  const std::string& problem() const { return problem_; }
  std::string path(std::string_view key, std::string_view extension) const;
  // Returns the content of an intact entry, and marks the entry as used.
  std::optional<std::string> find(std::string_view key, std::string_view extension) const;
  // Returns whether the entry was written. A full or read-only disk is not an error: the next start compiles again.
  bool store(std::string_view key, std::string_view extension, std::string_view content) const;

 private:
  void trim() const;

  std::string folder_;  // empty: not used
  std::string problem_;
  int64_t limit_;
};

}  // namespace heddle::runtime
