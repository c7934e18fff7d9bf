// A training that is kept in a folder: which checkpoint it goes on from, and what it leaves there.
//
//   SavedRun run(arguments);             // opens and locks the folder; nothing happens where --run is not given
//   run.choose(model_text, false);       // with --resume: the newest checkpoint that can be used
//   run.begin(executable, log, ...);     // restores it, or begins anew
//   watcher.save = [&](const auto& state) { run.save(executable, state, log); };
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "runtime/train/checkpoint.h"
#include "runtime/train/run_folder.h"
#include "runtime/train/run_log.h"
#include "tools/command/run_arguments.h"

namespace heddle::tools {

class SavedRun {
 public:
  // Throws UserError where a run lies in the folder, and neither --resume nor --overwrite says what is to become of it.
  explicit SavedRun(const SavingArguments& a);

  bool kept() const { return folder_ != nullptr; }
  // Where the folder is now; empty without one.
  std::string folder() const { return folder_ ? folder_->path() : std::string(); }
  // The newest checkpoint that is whole and of this model; others are named. Throws UserError where there are some, and
  // none can be used; the difference from the model is named.
  void choose(const std::string& model_text, bool schedule_needs_length);
  bool resumes() const { return checkpoint_.has_value(); }
  const runtime::RunState* from() const { return checkpoint_ ? &checkpoint_->state : nullptr; }
  // What its metadata says of names and statistics holds for what goes on, too; nullptr: it begins anew.
  const runtime::WeightsFile* file() const { return checkpoint_ ? &checkpoint_->file : nullptr; }
  void require_states(const codegen::Program& program) const;

  struct Begin {
    std::string mark;                             // of the folder, JSON
    std::string data;                             // a hash of the rows
    std::string choices;                          // of a table of measurements, a hash; "" without one
    bool any_choices = false;                     // others than those of the checkpoint may go on
    std::map<std::string, std::string> metadata;  // of weights and checkpoints
    int64_t keep = 2;
  };
  // Opens the log of the run. Throws UserError where the data are others than those of the checkpoint.
  void begin(runtime::Executable& executable, runtime::RunLog& log, Begin begin);
  // A checkpoint that cannot be written does not end the training: it is said, and the older ones stay.
  void save(runtime::Executable& executable, const runtime::RunState& state, runtime::RunLog& log);
  void save_best(const runtime::Best& best);
  // Once more at the end, where the file is not there or holds others: an earlier attempt may have failed.
  void make_sure_of_best(const runtime::Best& best);
  void save_last(runtime::Executable& executable);
  // What could not be written last, a checkpoint or the best weights; or "".
  const std::string& failure() const { return checkpoint_failure_.empty() ? best_failure_ : checkpoint_failure_; }
  // Whether the folder was removed or replaced, its log with it, when it was last looked for.
  bool is_gone() const { return gone_; }
  // Throws UserError where the last checkpoint or the best weights could not be written.
  void finish() const;

 private:
  std::optional<std::string> refusal(const runtime::Checkpoint& c) const;
  void find_folder();
  std::string cause_of(const UserError& error);
  void note_failure(const std::string& what, std::string& last);
  void remove_older(const runtime::RunState& state);
  std::map<std::string, std::string> weights_metadata(int64_t epoch, int64_t step) const;

  std::unique_ptr<runtime::RunFolder> folder_;
  bool resume_ = false;
  std::string model_text_;
  std::optional<runtime::Checkpoint> checkpoint_;
  Begin begin_;
  bool told_that_older_stay_ = false, gone_ = false, told_that_gone_ = false;
  std::string checkpoint_failure_, best_failure_;  // of the last attempt
};

}  // namespace heddle::tools
