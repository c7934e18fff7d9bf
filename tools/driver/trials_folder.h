// TrialsFolder: the folder of several trainings, with their results. Another process can continue from it.
//
//   heddle-sweep.json   says what the trials are: the mark
//   trials.jsonl        a line for each that has ended, in their order
//   trial-0001/ ...     their runs
//
// Only one process uses the folder at a time: it is locked (flock) as long as the object lives. A folder with other
// files and no mark is an error. Files with other names are never changed. Trials that replace earlier ones remove the
// earlier runs, as many as the mark counts, and their results.
#pragma once
#include <string>
#include <vector>

#include "runtime/files/locked_folder.h"

namespace heddle::driver {

struct TrialsNames {
  std::string what;                  // for messages: "sweep"
  std::string mark;                  // "heddle-sweep.json"
  std::string rows;                  // "trials.jsonl"
  std::string runs;                  // "trial-": prefix of the trials' folders, before a number from 1 on
  std::string count;                 // the mark's key for the number of trials: "trials"
  std::vector<std::string> results;  // files written at the end: "best.json"
};

class TrialsFolder {
 public:
  // Makes the folder where it does not exist. Throws UserError where it cannot be written, another process uses it, it
  // holds other files and no mark, or it holds trials and neither `resume` nor `overwrite` is set.
  TrialsFolder(const std::string& path, const TrialsNames& names, bool resume, bool overwrite);

  const std::string& path() const { return folder_.path(); }
  std::string at(const std::string& name) const { return folder_.at(name); }
  // When resuming: the earlier mark's text, and the complete rows. Else "" and no rows.
  const std::string& mark() const { return mark_; }
  const std::vector<std::string>& rows() const { return rows_; }
  // Writes the mark, and the rows to keep.
  void begin(const std::string& mark, const std::vector<std::string>& rows);
  // Appends a row and waits until it is on the disk.
  void add(const std::string& row);

 private:
  void read(bool resume, bool overwrite);
  std::vector<std::string> run_names(int64_t most) const;
  void require_room(const std::string& mark) const;
  void remove_earlier() const;
  runtime::LockedFolder folder_;
  TrialsNames names_;
  bool overwrite_ = false;
  std::string mark_;
  std::vector<std::string> rows_;
};

}  // namespace heddle::driver
