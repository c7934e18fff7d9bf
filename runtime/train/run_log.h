// The log of a run: one JSON object per line, for machines; `at` counts seconds from its start.
//
//   {"event": "step", "step": 100, "epoch": 1, "loss": 0.31, "at": 0.8}
//   {"event": "epoch", "epoch": 1, "step": 422, "train": {"loss": 0.19, "accuracy": 0.94}, "at": 1.9}
#pragma once
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "runtime/json_text.h"
#include "runtime/train/trainer.h"

namespace heddle::runtime {

class RunLog {
 public:
  explicit RunLog(const std::string& path);  // "": writes nothing
  void event(const std::string& name, JsonObject fields);
  void step(const StepEvent& event);
  void epoch(const EpochEvent& event);

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::chrono::steady_clock::time_point begin_;
};

std::string metrics_json(const MetricValues& values);  // {"loss": 0.19, "accuracy": 0.94}

}  // namespace heddle::runtime
