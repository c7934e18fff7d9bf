// TemporaryFolder, TemporaryFile: files and folders that are removed after use, however the process ends.
//
//   const TemporaryFolder folder;                    // /tmp/heddle-3f9a0c5518d27e64.tmp, of this user alone
//   TemporaryFile draft("out", "out/w.safetensors"); // out/heddle-9b1d774e20c6aa85.tmp
//
// The destructor or clean_up_for_exit removes them. A killed process removes nothing. But each temporary is locked
// (flock) while its process lives. So the next process that makes a temporary in the same place, or opens a device,
// removes those without a lock. It removes only names of this form that belong to this user.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "runtime/files/file.h"

namespace heddle::runtime {

// An empty folder under $TMPDIR. It is removed with everything in it.
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

// An empty file in `folder`. Errors call it `name`.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& folder, const std::string& name);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  File& file() { return *file_; }
  // Makes the file permanent under a name in the same folder. Replaces a file of that name.
  void rename_to(const std::string& path);

 private:
  std::string path_, name_;
  std::unique_ptr<File> file_;
};

bool is_temporary_name(std::string_view name);  // "heddle-", 16 hexadecimal digits, ".tmp"
// Whether the path, or the target of a link, has such a name. A file written there would be removed later.
bool leads_to_temporary_name(const std::string& path);
// Removes the temporaries in `folder` whose process has died.
void sweep_temporaries(const std::string& folder);
// The same for the folder in which temporary folders are made. It does so once per process, also when nothing is
// compiled.
void sweep_temporary_folders();

}  // namespace heddle::runtime
