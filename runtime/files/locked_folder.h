// A folder that one process at a time works in, and that says by one of its files whose it is.
//
// It is locked (flock) as long as the object lives. Nothing in a folder without that file, the mark, is ever touched.
#pragma once
#include <string>
#include <vector>

namespace heddle::runtime {

bool is_regular_file(const std::string& path);  // itself, not what it links to

struct FolderOwner {
  std::string what;     // "run"
  std::string mark;     // the file's name: "heddle-run.json"
  std::string busy;     // why another process is refused: "another process runs in this folder"
  std::string another;  // what to do where the path is a file: "name another for --run"
};

class LockedFolder {
 public:
  // Makes the folder where there is none. Throws UserError where it cannot be made, another process has locked it, or it
  // holds something else and no mark. Removes what a killed process left half written.
  LockedFolder(const std::string& path, const FolderOwner& owner);
  ~LockedFolder();  // an empty folder that it made goes again
  LockedFolder(const LockedFolder&) = delete;
  LockedFolder& operator=(const LockedFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string at(const std::string& name) const { return path_ + "/" + name; }
  const std::string& mark() const { return mark_; }  // its name
  bool is_marked() const { return is_regular_file(at(mark_)); }
  std::vector<std::string> names() const;  // in it, sorted, but those of drafts
  // Follows the folder where it has been moved. Throws UserError where it is gone: another folder that has got its name
  // is not this one.
  void find_again();

 private:
  void leave();
  std::string path_, mark_;
  int lock_ = -1;
  bool made_ = false;
};

}  // namespace heddle::runtime
