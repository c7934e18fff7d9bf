#include "tools/command/saved_run.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <utility>

#include "ir/diagnostic.h"
#include "runtime/weights/program_weights.h"
#include "runtime/weights/safetensors.h"
#include "runtime/weights/sealed.h"
#include "tools/command/output.h"
#include "tools/command/resolved_model.h"

namespace heddle::tools {
namespace {

const std::string kModel = "heddle.model", kModelHash = "heddle.model_hash", kData = "heddle.data",
                  kChoices = "heddle.choices", kLogBytes = "heddle.log_bytes";

std::string hash_of(const std::string& text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string message_of(const UserError& error) { return error.diagnostics().front().message; }

bool is_length(const std::string& path) { return path == "train.epochs" || path == "train.steps"; }

// Whether the model may differ from the checkpoint's at this path. The length of a run and its saving do not change the
// result of any step; what a run begins with is in the checkpoint.
bool may_differ(const std::string& path) {
  for (const char* free : {"train.epochs", "train.steps", "train.early_stop", "train.checkpoint", "weights"})
    if (path == free || path.starts_with(std::string(free) + ".")) return true;
  return false;
}

std::string told(const Difference& d) {
  const auto value = [](const std::string& text) { return text.empty() ? std::string("absent") : text; };
  return fmt::format("{} is {}, in the run it was {}", d.path, value(d.second), value(d.first));
}

const std::string& metadata_of(const runtime::Checkpoint& c, const std::string& key) {
  static const std::string none;
  const auto found = c.file.metadata.find(key);
  return found == c.file.metadata.end() ? none : found->second;
}

}  // namespace

SavedRun::SavedRun(const SavingArguments& a) : resume_(a.resume) {
  if (a.run.empty()) return;
  runtime::require_no_pipe(a.run);
  folder_ = std::make_unique<runtime::RunFolder>(a.run);
  if (folder_->has_run() && !a.resume && !a.overwrite)
    throw UserError(ExitCode::failed, fmt::format("{}: a run lies in this folder", folder_->path()),
                    "--resume continues it, --overwrite starts a new run; or name another folder");
}

// Empty where the checkpoint is one of this model.
std::optional<std::string> SavedRun::refusal(const runtime::Checkpoint& c) const {
  const std::string& text = metadata_of(c, kModel);
  if (hash_of(text) != metadata_of(c, kModelHash)) return "no checkpoint of a run: it holds no model";
  std::vector<Difference> others;
  try {
    others = model_differences(text, model_text_);
  } catch (const UserError&) {
    return "no checkpoint of a run: it holds no model";
  }
  std::erase_if(others, [](const Difference& d) { return may_differ(d.path); });
  if (others.empty()) return std::nullopt;
  constexpr size_t kMostTold = 4;
  std::string message = "of another model: " + told(others[0]);
  for (size_t i = 1; i < std::min(others.size(), kMostTold); ++i) message += "; " + told(others[i]);
  return message + (others.size() > kMostTold ? fmt::format("; and {} more", others.size() - kMostTold) : "");
}

void SavedRun::choose(const std::string& model_text, bool schedule_needs_length) {
  model_text_ = model_text;
  if (!folder_ || !resume_) return;
  std::vector<std::pair<std::string, std::string>> refused;  // paths, and what is wrong with them
  for (const std::string& path : folder_->checkpoints()) {
    try {
      runtime::Checkpoint c = runtime::read_checkpoint(path);
      if (path != folder_->checkpoint(c.state.steps))
        throw UserError(ExitCode::failed, fmt::format("{}: its name is not that of step {}, after which it was saved",
                                                      path, c.state.steps));
      if (const auto why = refusal(c)) throw UserError(ExitCode::failed, fmt::format("{}: {}", path, *why));
      checkpoint_ = std::move(c);
      break;
    } catch (const UserError& error) {
      refused.emplace_back(path, message_of(error));
    }
  }
  if (!checkpoint_ && !refused.empty()) {
    // All checkpoints of a run have the same model, so the same error is reported once, for the newest.
    std::vector<Diagnostic> errors;
    std::set<std::string> said;
    for (const auto& [path, what] : refused) {
      const bool named = what.starts_with(path + ": ");
      if (errors.size() < Diagnostics::kMaxErrors && said.insert(named ? what.substr(path.size()) : what).second)
        errors.push_back({Severity::error, {}, what, {}, {}});
    }
    errors.back().help = "no checkpoint can be used: --overwrite starts a new run, another folder keeps this run";
    throw UserError(std::move(errors));
  }
  for (const auto& [path, what] : refused) print_note("note: {}: it is not used\n", what);
  // A run that was killed before its first checkpoint starts again. But the weights of a finished run are not
  // overwritten.
  if (!checkpoint_ && folder_->has_lost_checkpoints())
    throw UserError(ExitCode::failed,
                    fmt::format("{}: a run has ended in this folder, and its checkpoints are gone", folder_->path()),
                    fmt::format("--overwrite starts a new run; --weights {} in another folder starts from its weights",
                                folder_->last()));
  if (!checkpoint_) return print_note("note: {}: nothing to resume, the run begins\n", folder_->path());
  for (const Difference& d : model_differences(metadata_of(*checkpoint_, kModel), model_text_))
    print_note(
        "note: {}{}\n", told(d),
        schedule_needs_length && is_length(d.path) ? ": the schedule of the rate is made for the new length" : "");
}

void SavedRun::require_states(const codegen::Program& program) const {
  if (checkpoint_) runtime::require_states(*checkpoint_, program);
}

void SavedRun::begin(runtime::Executable& executable, runtime::RunLog& log, Begin begin) {
  begin_ = std::move(begin);
  if (!folder_) return;
  if (checkpoint_ && metadata_of(*checkpoint_, kData) != begin_.data)
    throw UserError(ExitCode::failed, fmt::format("{}: the rows differ from those of the run", checkpoint_->file.name),
                    fmt::format("the data were {}, and are {}; --overwrite starts a new run",
                                metadata_of(*checkpoint_, kData), begin_.data));
  if (checkpoint_ && metadata_of(*checkpoint_, kChoices) != begin_.choices && !begin_.any_choices)
    throw UserError(
        ExitCode::failed,
        fmt::format("{}: the choices of kernels differ from those of the run", checkpoint_->file.name),
        "give the table that it began with, or none if it had none; --other-choices goes on all the same, with "
        "other last bits");
  if (!checkpoint_) folder_->clear();
  folder_->begin(begin_.mark, model_text_);  // first of all: what lies in a folder without the mark is nobody's
  log = runtime::RunLog(folder_->log());
  if (!checkpoint_) return;
  runtime::restore_states(executable, *checkpoint_);
  int64_t bytes = 0;
  const std::string& text = metadata_of(*checkpoint_, kLogBytes);
  std::from_chars(text.data(), text.data() + text.size(), bytes);
  const runtime::RunState& state = checkpoint_->state;
  log.go_on(std::max<int64_t>(bytes, 0), state.steps, state.seconds);
  print_note("resumed after step {} (epoch {}) from {}\n", state.steps,
             state.epochs + (state.step_of_epoch > 0 ? 1 : 0), checkpoint_->file.name);
}

std::map<std::string, std::string> SavedRun::weights_metadata(int64_t epoch, int64_t step) const {
  std::map<std::string, std::string> metadata = begin_.metadata;
  metadata["heddle.epoch"] = std::to_string(epoch);
  metadata["heddle.step"] = std::to_string(step);
  return metadata;
}

void SavedRun::find_folder() {
  gone_ = true;
  folder_->find_again();
  gone_ = false;
}

// Where the folder is gone, that is why a file of it could not be written.
std::string SavedRun::cause_of(const UserError& error) {
  try {
    find_folder();
  } catch (const UserError& gone) {
    return message_of(gone);
  }
  return message_of(error);
}

// Reports a failure once until it works again. For a removed folder, reports once for all files.
void SavedRun::note_failure(const std::string& what, std::string& last) {
  if (last.empty() && !(gone_ && told_that_gone_)) print_note("note: {}\n", what);
  last = what, told_that_gone_ = gone_;
}

void SavedRun::save(runtime::Executable& executable, const runtime::RunState& state, runtime::RunLog& log) {
  if (!folder_) return;
  std::map<std::string, std::string> metadata = begin_.metadata;
  metadata[kModel] = model_text_, metadata[kModelHash] = hash_of(model_text_), metadata[kData] = begin_.data;
  if (!begin_.choices.empty()) metadata[kChoices] = begin_.choices;
  metadata[kLogBytes] = std::to_string(log.sync());
  // A device that fails here ends the run: it is no file that cannot be written.
  const runtime::WeightsFile file = runtime::make_checkpoint(executable, state, metadata);
  std::string path;
  try {
    find_folder();
    log.moved_to(folder_->log());
    path = folder_->checkpoint(state.steps);
    runtime::write_sealed(path, file);
    checkpoint_failure_.clear();
  } catch (const UserError& error) {
    note_failure(fmt::format("the checkpoint after step {} is not written: {}", state.steps, cause_of(error)),
                 checkpoint_failure_);
    return;
  }
  remove_older(state);
  const std::string name = std::filesystem::path(path).filename().string();
  log.event("checkpoint", runtime::JsonObject().integer("step", state.steps).text("file", name));
}

// One too many does no harm.
void SavedRun::remove_older(const runtime::RunState& state) {
  std::vector<std::string> kept;
  if (state.best) kept.push_back(folder_->checkpoint(state.best->step));
  try {
    folder_->keep_newest(begin_.keep, state.steps, kept);
  } catch (const UserError& error) {
    if (!std::exchange(told_that_older_stay_, true)) print_note("note: {}\n", message_of(error));
  }
}

void SavedRun::save_best(const runtime::Best& best) {
  if (!folder_) return;
  runtime::WeightsFile file = best.weights;
  file.metadata.merge(weights_metadata(best.epoch, best.step));
  try {
    find_folder();
    runtime::require_weights_path(folder_->best());
    runtime::write_safetensors(folder_->best(), file);
    best_failure_.clear();
  } catch (const UserError& error) {
    note_failure(cause_of(error), best_failure_);
  }
}

void SavedRun::make_sure_of_best(const runtime::Best& best) {
  if (!folder_) return;
  try {
    find_folder();
    const runtime::WeightsFile file = runtime::read_safetensors(folder_->best());
    const auto step = file.metadata.find("heddle.step");
    if (step != file.metadata.end() && step->second == std::to_string(best.step)) return;
  } catch (const UserError&) {  // absent, or damaged: it is written again
  }
  save_best(best);
}

void SavedRun::save_last(runtime::Executable& executable) {
  if (!folder_) return;
  find_folder();
  try {
    runtime::save_weights(executable, folder_->last(), begin_.metadata);
  } catch (const UserError& error) {
    find_folder();  // where it is gone by now, that is the error
    if (folder_->checkpoints().empty()) throw;
    const std::string& help = error.diagnostics().front().help;
    throw UserError(error.code(), message_of(error),
                    help + (help.empty() ? "" : "; ") + "--resume continues from the last checkpoint");
  }
}

void SavedRun::finish() const {
  if (!failure().empty())
    throw UserError(ExitCode::failed, failure(), "make room, then --resume: it continues from the last checkpoint");
}

}  // namespace heddle::tools
