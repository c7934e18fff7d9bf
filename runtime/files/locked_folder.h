// LockedFolder: a folder in which one process at a time works. A file in it, the mark, says which kind of folder it is.
//
// The folder is locked (flock) as long as the object lives. A folder with other files and no mark is never changed.
#pragma once
#include <string>
#include <vector>

namespace heddle::runtime {

bool is_regular_file(const std::string& path);  // does not follow links

struct FolderOwner {
  std::string what;     // "run"
  std::string mark;     // name of the mark: "heddle-run.json"
  std::string busy;     // why another process is refused: "another process runs in this folder"
  std::string another;  // the remedy where the path is a file: "name another for --run"
};

class LockedFolder {
 public:
  // Makes the folder where it does not exist. Throws UserError where it cannot be made, another process has locked it,
  // or it has other files and no mark. Removes the drafts that a killed process has left.
  LockedFolder(const std::string& path, const FolderOwner& owner);
  ~LockedFolder();  // removes the folder if this made it and it is empty
  LockedFolder(const LockedFolder&) = delete;
  LockedFolder& operator=(const LockedFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string at(const std::string& name) const { return path_ + "/" + name; }
  const std::string& mark() const { return mark_; }  // the name of the mark
  bool is_marked() const { return is_regular_file(at(mark_)); }
  std::vector<std::string> names() const;  // of the files in it, sorted, without drafts
  // Finds the folder's path again if it has been moved. Throws UserError where the folder was removed, even if another
  // folder has its name.
  void find_again();

 private:
  void leave();
  std::string path_, mark_;
  int lock_ = -1;
  bool made_ = false;
};

}  // namespace heddle::runtime
