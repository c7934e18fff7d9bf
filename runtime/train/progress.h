// What a person sees of a run: one line that renews itself on a terminal, one line per epoch elsewhere.
//
//   epoch 3/15  211/422  312 steps/s  eta 0:41  loss 0.0412  accuracy 0.9871  84 MB
//   epoch 3/15: 1.9 s, loss 0.0412, accuracy 0.9871, validation loss 0.0523, validation accuracy 0.9850
//
// Nothing here throws: a training goes on when its reader has gone, and `out` remembers that a write failed.
#pragma once
#include <chrono>
#include <cstdio>
#include <string>

#include "runtime/train/trainer.h"

namespace heddle::runtime {

class Progress {
 public:
  explicit Progress(std::FILE* out);  // asks whether it is a terminal
  Progress(std::FILE* out, bool terminal);
  void step(const StepEvent& event);
  void epoch(const EpochEvent& event);
  // Ends the renewed line, so that what follows starts on its own.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  void show(const std::string& line);
  std::FILE* out_;
  bool terminal_;
  bool line_open_ = false;
  Clock::time_point last_{}, window_{};
  int64_t window_step_ = -1;
  double rate_ = 0;  // steps per second, smoothed
};

// The numbers on one line; what is more than a number is left to the tables: a line for each class, or a matrix.
std::string metrics_text(const MetricValues& values, const std::string& prefix, const std::string& separator);
std::string metric_tables(const MetricValues& values);
int64_t peak_resident_bytes();

}  // namespace heddle::runtime
