// Progress: prints the progress of a run. On a terminal it is one line that is rewritten; elsewhere one line per epoch.
//
//   epoch 3/15  211/422  312 steps/s  eta 0:41  loss 0.0412  accuracy 0.9871  lr 0.001  84 MB
//   3/15 loss 0.0412                                                    the same in 20 columns
//   epoch 3/15: 1.9 s, loss 0.0412, accuracy 0.9871, validation loss 0.0523, validation accuracy 0.9850
//
// No function throws: a training goes on when nobody reads its output. The error flag of `out` tells that a write
// failed.
#pragma once
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "runtime/train/trainer.h"

namespace heddle::runtime {

// A part of a line. Where there is no room for all parts, those with the highest rank are shortened or left out first.
struct ProgressPart {
  std::string label, value, short_value;  // short_value: printed without the label; empty: no short form
  int rank = 0;
};
// Joins the parts to a line of at most `columns` columns. With colours, labels are faint.
std::string progress_line(const std::vector<ProgressPart>& parts, size_t columns, bool colours);

class Progress {
 public:
  // Returns the learning rate of the step that follows `steps` finished steps. It is called only when the device is
  // idle. May be empty.
  using Rate = std::function<double(int64_t steps, int64_t all_steps)>;
  explicit Progress(std::FILE* out, Rate rate = {});  // detects a terminal, and its width before each line
  Progress(std::FILE* out, bool terminal, bool colours = false, Rate rate = {});
  void step(const StepEvent& event);
  void epoch(const EpochEvent& event);
  // Ends the rewritten line, so that further output begins on a new line.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  void show(const std::string& line);
  void measure_speed(const StepEvent& event, Clock::time_point now);
  std::vector<ProgressPart> parts(const StepEvent& event) const;
  std::FILE* out_;
  bool terminal_, colours_;
  Rate learning_rate_;
  Clock::time_point last_{}, window_{};
  int64_t window_step_ = -1;
  double rate_ = 0;  // steps per second, smoothed
};

// metrics_text: the metrics that are one number, on one line. metric_tables: the others, as tables with a line for each
// class, or as a matrix.
std::string metrics_text(const MetricValues& values, const std::string& prefix, const std::string& separator);
std::string metric_tables(const MetricValues& values);

}  // namespace heddle::runtime
