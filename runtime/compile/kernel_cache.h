// KernelCache: compiled code on disk, one file per entry, shared by any number of processes.
//
//   key = cache_key({source, options, compiler, processor})      -> "9f86d081884c7d65..." (xxHash, 128 bits)
//   ~/.cache/heddle/kernels/9f86d081884c7d65....so = content + trailer {mark, key, hash of the content, length}
//
// An entry is read and checked in full before it is used; a truncated or altered one counts as absent and is written
// anew. Files appear by rename, so a reader never sees half of one.
//
// The folder belongs to the cache: a file in it says so. A folder that is neither empty nor marked is somebody else's
// and is left alone. What is removed or replaced in a marked folder are regular files of names that the cache gives.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::runtime {

// 32 hexadecimal digits. Parts are hashed with their lengths: {"ab", "c"} and {"a", "bc"} differ.
std::string cache_key(std::initializer_list<std::string_view> parts);

// $HEDDLE_CACHE, $XDG_CACHE_HOME/heddle/kernels or ~/.cache/heddle/kernels; a folder of this user under /tmp where
// there is no home.
std::string kernel_cache_folder();

class KernelCache {
 public:
  static constexpr int64_t kLimit = int64_t{512} << 20;

  // The folder is made and marked when missing or empty. Where that fails, or the folder is another user's or holds
  // other things, nothing is found and nothing stored. `limit`: bytes; the entries that were used longest ago go first.
  explicit KernelCache(std::string folder, int64_t limit = kLimit);

  // Why the folder is not used, or "".
  const std::string& problem() const { return problem_; }
  std::string path(std::string_view key, std::string_view extension) const;
  // The content of an intact entry, which thereby counts as used.
  std::optional<std::string> find(std::string_view key, std::string_view extension) const;
  // Returns whether the entry is on disk now; a full or read-only disk is no error, only slower the next time.
  bool store(std::string_view key, std::string_view extension, std::string_view content) const;

 private:
  void trim() const;

  std::string folder_;  // empty: not used
  std::string problem_;
  int64_t limit_;
};

}  // namespace heddle::runtime
