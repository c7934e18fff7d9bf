// Writes a file atomically: after a crash, a full disk or a signal, either the old or the new file is there, complete.
//
//   require_replaceable("w.safetensors");                   // at the start of a run: throws where it could not be written
//   replace_file("w.safetensors", {prefix, header, data});  // draft beside it, write, fsync, rename, fsync of the folder
//
// A symbolic link is followed: its target is replaced, and the link stays. A target that is not a regular file, or is
// write-protected, is an error. The permissions of a replaced file are kept.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files/temporary.h"

namespace heddle::runtime {

// Throws UserError unless a file can be written there now. It tests this with a draft, which it removes.
void require_replaceable(const std::string& path);
// Throws UserError where a file exists there and is not empty; the remedy is --overwrite.
void require_new(const std::string& path);
void replace_file(const std::string& path, const std::vector<std::string_view>& pieces);

// A file that is written piece by piece and replaces the old one in `finish`. Without `finish` the old file stays.
class FileReplacement {
 public:
  explicit FileReplacement(const std::string& path);
  File& file() { return draft_->file(); }
  void finish();

 private:
  std::string target_;
  std::unique_ptr<TemporaryFile> draft_;
};

// Writes text to a path that the user chose. A character device (such as /dev/null) or a pipe is written in place; any
// other file is replaced atomically.
void write_file(const std::string& path, std::string_view text);

// Whether `path` leads to a character device or a pipe, which are written in place.
bool is_stream(const std::string& path);

}  // namespace heddle::runtime
