// RunLog: writes the log of a run for other programs, one JSON object per line. `at` is the time in seconds since the
// run's start.
//
//   RunLog log("cnn.jsonl");   // throws where it cannot be written, or would overwrite something else than a log
//   {"event": "step", "step": 100, "epoch": 1, "loss": 0.31, "lr": 0.001, "at": 0.8}
//   {"event": "epoch", "epoch": 1, "step": 422, "lr": 0.001, "train": {"loss": 0.19, "accuracy": 0.94}, "at": 1.9}
#pragma once
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/json_text.h"
#include "runtime/train/trainer.h"

namespace heddle::runtime {

// The constructor opens the file; the first event empties it. So a run that fails before it begins leaves an older log
// unchanged. The log may also be a device or a pipe. "-" is standard output, where each epoch is flushed. A full disk
// does not stop the run: `finish` throws then. Any thread may write: a watchdog's thread ends the log while the run may
// still go on. Nothing is written after an event "end".
class RunLog {
 public:
  explicit RunLog(const std::string& path);  // "": writes nothing; "-": to standard output
  // Continues the log of an earlier process; to be called before the first event. Of the log behind its first `bytes`
  // bytes (its length at the checkpoint), the steps, the epochs and the events of steps later than `step` are removed,
  // because they will come again. `seconds`: the time that the run has taken so far.
  void go_on(int64_t bytes, int64_t step, double seconds);
  // Flushes and syncs the file. Returns its size in bytes; 0 where no file is written.
  int64_t sync();
  void event(const std::string& name, JsonObject fields);
  // Writes the event "end", with the last step of which an event told. Other threads may report steps meanwhile.
  void end(JsonObject fields);
  bool writes() const { return file_ != nullptr; }
  // `lr`: the learning rate of the step, or of the epoch's last step; nothing where there is none.
  void step(const StepEvent& event, std::optional<double> lr = {});
  void epoch(const EpochEvent& event, std::optional<double> lr = {});
  // Throws UserError when a line could not be written. To be called when the run's results have been saved.
  void finish();
  // Tells the log that its folder was moved.
  void moved_to(const std::string& path);
  int64_t last_step() const;  // last step of which an event told; 0: none yet
  bool ended() const;         // whether the event "end" was written

 private:
  void note_failure();
  bool is_standard_output() const { return path_ == "-"; }

  std::string path_;
  std::unique_ptr<std::recursive_mutex> mutex_ = std::make_unique<std::recursive_mutex>();  // of what follows
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  bool begun_ = false, ended_ = false;
  int64_t last_step_ = 0;
  double before_ = 0;  // seconds of earlier processes
  int failure_ = 0;    // errno of the first write that failed
  std::chrono::steady_clock::time_point begin_;
};

std::string metrics_json(const MetricValues& values);  // {"loss": 0.19, "accuracy": 0.94, "f1": [0.9, 0.8]}

}  // namespace heddle::runtime
