// RunFolder: the folder in which a training keeps its files, and from which another process can continue.
//
//   heddle-run.json                         says that the folder is a run's
//   model.json                              the model as trained
//   log.jsonl                               a line for each event (docs/runtime.md)
//   checkpoint-000000000421.safetensors     after step 421 (runtime/train/checkpoint.h)
//   best.safetensors, last.safetensors      weights
//
// Only one process uses the folder at a time: it is locked (flock) as long as the object lives. Files with other names
// are never changed, and no file is changed in a folder without the mark.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files/locked_folder.h"

namespace heddle::runtime {

// Why `path` is not a folder that holds only a run: "a link", "not a folder", "the folder holds 'mine.txt' beside a
// run". "": it is one.
std::string foreign_in_run(const std::string& path);
// Removes the files of a run, and the folder where nothing else is in it. A link, or a folder that is not a run's, is
// not changed. Throws UserError where another process uses the folder.
void remove_run(const std::string& path);

// Removes a regular file, if it exists. Throws UserError where it cannot be removed.
void remove_file(const std::string& path);

class RunFolder {
 public:
  // Makes the folder where it does not exist. Throws UserError where it cannot be written, another process uses it, or
  // it holds other files and no run. Removes the drafts that a killed process has left.
  explicit RunFolder(const std::string& path);

  const std::string& path() const { return folder_.path(); }
  bool has_run() const { return folder_.is_marked(); }
  std::string log() const { return at("log.jsonl"); }
  std::string best() const { return at("best.safetensors"); }
  std::string last() const { return at("last.safetensors"); }
  std::string checkpoint(int64_t step) const;
  // The newest first.
  std::vector<std::string> checkpoints() const;

  // Whether the folder has the weights of a run but no file with a checkpoint's name.
  bool has_lost_checkpoints() const;

  // Removes the checkpoints and weights of the run in the folder.
  void clear();
  // Also removes its log, its model and, last, its mark.
  void remove();
  // Marks the folder, and writes the model.
  void begin(std::string_view mark, std::string_view model);
  // To be called before a file is written: finds the folder's path again if it has been moved. Throws UserError where
  // the folder was removed, even if another folder, perhaps of another run, has its name.
  void find_again() { folder_.find_again(); }
  // Keeps the newest `keep` checkpoints up to `step` and those in `kept`, and removes the other ones up to `step`.
  // Checkpoints after `step` come from an abandoned continuation of the run, so they do not count among the `keep`.
  void keep_newest(int64_t keep, int64_t step, const std::vector<std::string>& kept);

 private:
  std::string at(const std::string& name) const { return folder_.at(name); }
  LockedFolder folder_;
};

}  // namespace heddle::runtime
