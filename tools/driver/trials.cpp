#include "tools/driver/trials.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <thread>

#include "ir/diagnostic.h"
#include "runtime/process/child.h"

namespace heddle::driver {
namespace {

constexpr int kSignalled = 128;  // a process that a signal ended has 128 + its number
constexpr auto kPause = std::chrono::milliseconds(5);

// The line that says what is wrong, as the trial's process told it.
std::string first_error(const std::string& errors, int status) {
  constexpr std::string_view kError = "error: ", kProgram = "heddle: ";
  std::string_view last;
  for (size_t begin = 0; begin < errors.size();) {
    const size_t end = std::min(errors.find('\n', begin), errors.size());
    std::string_view line = std::string_view(errors).substr(begin, end - begin);
    if (line.starts_with(kProgram)) line.remove_prefix(kProgram.size());
    if (line.starts_with(kError)) return std::string(line.substr(kError.size()));
    if (line.find(": error: ") != std::string_view::npos) return std::string(line);
    if (!line.empty()) last = line;
    begin = end + 1;
  }
  if (status == kSignalled + SIGKILL) return "the process was killed: memory may not suffice";
  if (status > kSignalled) return fmt::format("the process was ended by signal {}", status - kSignalled);
  if (!last.empty()) return std::string(last);  // "stopped by --max-memory ..." is no error, but says why
  return fmt::format("the process ended with exit code {}, and said nothing", status);
}

// Throws where the disk is full. This is no result of the trial: all others would fail, too.
void require_room(const Trial& trial, const std::string& error) {
  for (const int reason : {ENOSPC, EDQUOT})
    if (error.find(std::strerror(reason)) != std::string::npos)
      throw UserError(ExitCode::failed, fmt::format("{}: {}", trial.name, error),
                      "make room, then --resume: it continues with this one");
}

class Trials {
 public:
  Trials(const std::vector<Trial>& trials, const TrialsOptions& options) : trials_(trials), options_(options) {}

  int run() {
    try {
      return run_all();
    } catch (...) {
      for (const Running& r : running_) r.child->tell(SIGTERM);  // so that they save what they have
      for (const Running& r : running_)
        while (!r.child->ended()) std::this_thread::sleep_for(kPause);
      throw;
    }
  }

 private:
  int run_all() {
    while (told_ < trials_.size()) {
      if (signal_ == 0 && options_.interrupted) end_all(options_.interrupted());
      while (signal_ == 0 && next_ < trials_.size() && running_.size() < static_cast<size_t>(options_.jobs))
        start(next_++, /*attempt=*/0, options_.overwrite ? "--overwrite" : "--resume");
      if (!look()) std::this_thread::sleep_for(kPause);
      tell();
      if (signal_ != 0 && running_.empty()) return signal_;
    }
    return 0;
  }

  struct Running {
    size_t trial = 0;
    int attempt = 0;
    bool anew = true;  // in a folder that holds nothing of an earlier process
    std::unique_ptr<runtime::Child> child;
  };

  void start(size_t i, int attempt, const std::string& how) {
    const std::filesystem::path folder = std::filesystem::path(options_.folder) / trials_[i].name;
    std::error_code ec;
    // The run behind it may be one of another search.
    if (std::filesystem::is_symlink(folder, ec))
      throw UserError(ExitCode::failed,
                      fmt::format("{}: is a link: a trial writes into a folder of its own", folder.string()),
                      "remove the link, or name another folder");
    const bool anew = how != "--resume" || std::filesystem::is_empty(folder, ec) || ec;
    std::vector<std::string> words = options_.command;
    words.insert(words.end(), trials_[i].words.begin(), trials_[i].words.end());
    words.insert(words.end(), {"--run", folder.string(), how, "--json", "--quiet"});
    if (options_.unchanged) options_.unchanged();
    running_.push_back({i, attempt, anew, std::make_unique<runtime::Child>(words)});
  }

  // Whether one has ended.
  bool look() {
    const auto ended = std::ranges::find_if(running_, [](const Running& r) { return r.child->ended(); });
    if (ended == running_.end()) return false;
    const Running last = std::move(*ended);
    running_.erase(ended);
    take(last);
    return true;
  }

  void take(const Running& last) {
    if (options_.unchanged && signal_ == 0) options_.unchanged();
    const int status = last.child->status();
    if (status == 0 && !last.child->output().empty()) {
      ends_[last.trial] = {.result = last.child->output(), .error = {}};
      return;
    }
    const bool interrupted = std::ranges::count(std::vector{SIGINT, SIGTERM, SIGHUP}, status - kSignalled) > 0;
    if (interrupted) end_all(status - kSignalled);
    if (signal_ != 0) return;  // whatever it failed by: it is run again when the others go on
    const std::string error = first_error(last.child->errors(), status);
    require_room(trials_[last.trial], error);
    // It was killed, perhaps by the system for lack of memory: try once more.
    if (status == kSignalled + SIGKILL && last.attempt == 0) return start(last.trial, 1, "--resume");
    if (!last.anew) return start(last.trial, last.attempt, "--overwrite");
    ends_[last.trial] = {.result = {}, .error = error};
  }

  void end_all(int signal) {
    if (signal == 0 || signal_ != 0) return;
    signal_ = signal;
    for (const Running& r : running_) r.child->tell(signal);
  }

  void tell() {
    for (auto end = ends_.find(told_); end != ends_.end() && end->first == told_; end = ends_.find(told_)) {
      if (options_.ended) options_.ended(told_, end->second);
      ends_.erase(end);
      ++told_;
    }
  }

  const std::vector<Trial>& trials_;
  const TrialsOptions& options_;
  std::vector<Running> running_;
  std::map<size_t, TrialEnd> ends_;  // that wait for those before them
  size_t next_ = 0, told_ = 0;
  int signal_ = 0;
};

}  // namespace

int run_trials(const std::vector<Trial>& trials, const TrialsOptions& options) { return Trials(trials, options).run(); }

}  // namespace heddle::driver
