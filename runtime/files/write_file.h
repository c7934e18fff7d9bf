// Writes a file as a whole: a crash, a full disk or a signal leaves the old file or the new one,
// never a part of one.
//
//   require_replaceable("w.safetensors");                   // at the start of a run: throws where it could not be written
//   replace_file("w.safetensors", {prefix, header, data});  // draft beside it, write, fsync, rename, fsync of the folder
//
// A symbolic link is followed: the file it leads to is replaced, and the link stays. What is not a
// regular file, or is write-protected, is refused. The permissions of a file that is replaced are
// kept.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files/temporary.h"

namespace heddle::runtime {

// Throws UserError unless a file could be written there now; it makes a draft there and removes it.
void require_replaceable(const std::string& path);
// Throws UserError where a file is there that holds something: the remedy is --overwrite.
void require_new(const std::string& path);
void replace_file(const std::string& path, const std::vector<std::string_view>& pieces);

// A file that is written piece by piece and has its name only once it is whole; without `finish` the old one stays.
class FileReplacement {
 public:
  explicit FileReplacement(const std::string& path);
  File& file() { return draft_->file(); }
  void finish();

 private:
  std::string target_;
  std::unique_ptr<TemporaryFile> draft_;
};

// For text that a person may send anywhere, /dev/null and pipes included: a character device or a pipe is written in
// place, anything else as a whole.
void write_file(const std::string& path, std::string_view text);

// Whether `path` leads to a character device or a pipe, which are written in place.
bool is_stream(const std::string& path);

}  // namespace heddle::runtime
