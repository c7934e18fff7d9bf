// Files and folders that do not outlive their use, however the process ends.
//
//   const TemporaryFolder folder;                    // /tmp/heddle-3f9a0c5518d27e64.tmp, of this user alone
//   TemporaryFile draft("out", "out/w.safetensors"); // out/heddle-9b1d774e20c6aa85.tmp
//
// Each is removed by its destructor, or by clean_up_for_exit. A process that is killed removes nothing; but each is
// locked (flock) while its process lives, so the next process that makes a temporary in the same place, or opens a
// device, removes those that nobody locks. It touches only names of this form, of this user.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "runtime/files/file.h"

namespace heddle::runtime {

// A new, empty folder under $TMPDIR, removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int lock_ = -1;
};

// A new, empty file in `folder`, which errors call `name`.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& folder, const std::string& name);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  File& file() { return *file_; }
  // Gives it a name to stay, in the same folder; replaces what has that name.
  void rename_to(const std::string& path);

 private:
  std::string path_, name_;
  std::unique_ptr<File> file_;
};

bool is_temporary_name(std::string_view name);  // "heddle-", 16 hexadecimal digits, ".tmp"
// Whether the path, or the link that it is, ends in such a name: what is written there would be swept away.
bool leads_to_temporary_name(const std::string& path);
// Removes the temporaries in `folder` whose process has died.
void sweep_temporaries(const std::string& folder);
// Likewise where temporary folders are made, once in a process: a start that compiles nothing removes them, too.
void sweep_temporary_folders();

}  // namespace heddle::runtime
