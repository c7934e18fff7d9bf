// The log of a run: one JSON object per line, for machines; `at` counts seconds from its start.
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

// The file is opened when the log is made and emptied by the first event, so that a run that never
// begins leaves an older log as it is. A device or a pipe may take the log, too, and "-" is
// standard output, which gets every epoch at once. A full disk does not stop the run: `finish`
// tells. Any thread may write: a watchdog's ends the log of a run that may still go on, and nothing
// comes behind an event "end".
class RunLog {
 public:
  explicit RunLog(const std::string& path);  // "": writes nothing; "-": to standard output
  // Goes on with the log of an earlier process, before the first event. Behind the bytes that the
  // log had at the checkpoint, its steps and epochs go, and what tells of a later step than the
  // checkpoint's: they come again. `seconds` is the time the run took so far.
  void go_on(int64_t bytes, int64_t step, double seconds);
  // Bytes that are safely in the file: it is flushed and synced. 0 where nothing is written.
  int64_t sync();
  void event(const std::string& name, JsonObject fields);
  // The event "end", with the last step that an event told of, whichever thread tells of steps meanwhile.
  void end(JsonObject fields);
  bool writes() const { return file_ != nullptr; }
  // `lr` is the rate that the step took, and the last one of the epoch; nothing where there is none.
  void step(const StepEvent& event, std::optional<double> lr = {});
  void epoch(const EpochEvent& event, std::optional<double> lr = {});
  // Throws UserError when any line could not be written. To be called once the run's results are safe.
  void finish();
  // The folder that it lies in was moved.
  void moved_to(const std::string& path);
  int64_t last_step() const;  // that an event told of; 0: none yet
  bool ended() const;         // an event "end" has been told

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
