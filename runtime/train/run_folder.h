// The folder of a run: what a training leaves, and what another process goes on from.
//
//   heddle-run.json                         says that the folder is a run's
//   model.json                              the model as trained
//   log.jsonl                               a line for each event (docs/runtime.md)
//   checkpoint-000000000421.safetensors     after step 421 (runtime/train/checkpoint.h)
//   best.safetensors, last.safetensors      weights
//
// One process at a time: the folder is locked (flock) as long as the object lives. Files of other names are never
// touched, and none at all in a folder without the mark.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files/locked_folder.h"

namespace heddle::runtime {

// Why `path` is not the folder of a run alone, or "": "a link", "not a folder", "the folder holds 'mine.txt' beside a run".
std::string foreign_in_run(const std::string& path);
// Removes the files of a run, and its folder where nothing else is in it. What is no run's folder, or a link, stays as it
// is. Throws UserError where another process works in it.
void remove_run(const std::string& path);

// A regular file, which may be gone already. Throws UserError where it cannot be removed.
void remove_file(const std::string& path);

class RunFolder {
 public:
  // Makes the folder where there is none. Throws UserError where it cannot be written, another process writes it, or it
  // holds something else than a run. Removes what a killed process left half written.
  explicit RunFolder(const std::string& path);

  const std::string& path() const { return folder_.path(); }
  bool has_run() const { return folder_.is_marked(); }
  std::string log() const { return at("log.jsonl"); }
  std::string best() const { return at("best.safetensors"); }
  std::string last() const { return at("last.safetensors"); }
  std::string checkpoint(int64_t step) const;
  // The newest first.
  std::vector<std::string> checkpoints() const;

  // Whether weights of a run's end lie there, and nothing that is called as checkpoints are.
  bool has_lost_checkpoints() const;

  // Removes checkpoints and weights of the run that lies there.
  void clear();
  // And its log, its model and its mark, this one last.
  void remove();
  // Marks the folder, and writes the model.
  void begin(std::string_view mark, std::string_view model);
  // Before a file is written: the folder may have been moved since, which is followed. Throws
  // UserError where it is gone: another folder that has got its name, another run's perhaps, is not
  // this one.
  void find_again() { folder_.find_again(); }
  // Removes all checkpoints up to `step` but the newest `keep`, and those in `kept`. Later ones are
  // not of this run's past: they could not be used where it went on, and must not take the places
  // of those that can.
  void keep_newest(int64_t keep, int64_t step, const std::vector<std::string>& kept);

 private:
  std::string at(const std::string& name) const { return folder_.at(name); }
  LockedFolder folder_;
};

}  // namespace heddle::runtime
