// The folder of several trainings: what is kept of them, and what another process goes on from.
//
//   heddle-sweep.json   says what the trials are: the mark
//   trials.jsonl        a line for each that has ended, in their order
//   trial-0001/ ...     their runs
//
// One process at a time: the folder is locked (flock) as long as the object lives. A folder that holds something else,
// and no mark, is refused; files of other names are never touched. New trials that replace others remove the runs of as
// many as the mark names, and their results.
#pragma once
#include <string>
#include <vector>

#include "runtime/files/locked_folder.h"

namespace heddle::driver {

struct TrialsNames {
  std::string what;                  // for messages: "sweep"
  std::string mark;                  // "heddle-sweep.json"
  std::string rows;                  // "trials.jsonl"
  std::string runs;                  // "trial-": the trials' folders, with a number from 1 on behind it
  std::string count;                 // the mark's key that says how many there are: "trials"
  std::vector<std::string> results;  // files that are written once they have ended: "best.json"
};

class TrialsFolder {
 public:
  // Makes the folder where there is none. Throws UserError where it cannot be written, another process works in it, it
  // holds something else, or trials that neither `resume` nor `overwrite` speaks of.
  TrialsFolder(const std::string& path, const TrialsNames& names, bool resume, bool overwrite);

  const std::string& path() const { return folder_.path(); }
  std::string at(const std::string& name) const { return folder_.at(name); }
  // What an earlier process left, where it is gone on with: the mark's text, or ""; the rows, whole lines only.
  const std::string& mark() const { return mark_; }
  const std::vector<std::string>& rows() const { return rows_; }
  // Writes the mark, and those of the rows that are kept.
  void begin(const std::string& mark, const std::vector<std::string>& rows);
  // One more row is on the disk.
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
