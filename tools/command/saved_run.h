// SavedRun: saves a training in a folder, and chooses the checkpoint from which it continues.
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
  // Throws UserError where the folder holds a run and neither --resume nor --overwrite is given.
  explicit SavedRun(const SavingArguments& a);

  bool kept() const { return folder_ != nullptr; }
  // The folder's current path; empty without a folder.
  std::string folder() const { return folder_ ? folder_->path() : std::string(); }
  // Chooses the newest checkpoint that is intact and belongs to this model. Prints a note for each checkpoint that is
  // skipped. Throws UserError where there are checkpoints but none can be used; the message names the difference from
  // the model.
  void choose(const std::string& model_text, bool schedule_needs_length);
  bool resumes() const { return checkpoint_.has_value(); }
  const runtime::RunState* from() const { return checkpoint_ ? &checkpoint_->state : nullptr; }
  // The checkpoint's file, whose metadata has the names and statistics for the continued training; nullptr: the
  // training starts from the beginning.
  const runtime::WeightsFile* file() const { return checkpoint_ ? &checkpoint_->file : nullptr; }
  void require_states(const codegen::Program& program) const;

  struct Begin {
    std::string mark;                             // the folder's mark, JSON
    std::string data;                             // a text with a hash of the rows
    std::string choices;                          // a hash of the table of choices; "" without one
    bool any_choices = false;                     // may differ from the checkpoint's
    std::map<std::string, std::string> metadata;  // for weights and checkpoints
    int64_t keep = 2;
  };
  // Opens the run's log. Throws UserError where the data differ from those of the checkpoint.
  void begin(runtime::Executable& executable, runtime::RunLog& log, Begin begin);
  // Saves a checkpoint. A failure does not end the training: it prints a note, and older checkpoints stay.
  void save(runtime::Executable& executable, const runtime::RunState& state, runtime::RunLog& log);
  void save_best(const runtime::Best& best);
  // Called at the end: saves the best weights again where the file is absent or holds other weights, because an earlier
  // attempt may have failed.
  void make_sure_of_best(const runtime::Best& best);
  void save_last(runtime::Executable& executable);
  // The message of the last failed attempt, for a checkpoint or the best weights; or "".
  const std::string& failure() const { return checkpoint_failure_.empty() ? best_failure_ : checkpoint_failure_; }
  // Whether the folder, and so the log, had been removed or replaced at the last check.
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
  std::string checkpoint_failure_, best_failure_;  // of the last attempt; empty: it succeeded
};

}  // namespace heddle::tools
