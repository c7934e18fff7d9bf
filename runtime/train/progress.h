// What a person sees of a run: one line that renews itself on a terminal, one line per epoch elsewhere.
//
//   epoch 3/15  211/422  312 steps/s  eta 0:41  loss 0.0412  accuracy 0.9871  lr 0.001  84 MB
//   3/15 loss 0.0412                                                    the same in 20 columns
//   epoch 3/15: 1.9 s, loss 0.0412, accuracy 0.9871, validation loss 0.0523, validation accuracy 0.9850
//
// Nothing here throws: a training goes on when its reader has gone, and `out` remembers that a write failed.
#pragma once
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "runtime/train/trainer.h"

namespace heddle::runtime {

// What a line is made of. Where there is no room for all, those of the highest rank go first; a
// short form may stand in.
struct ProgressPart {
  std::string label, value, short_value;  // short_value: without a label; empty: none
  int rank = 0;
};
// In one line of so many columns. With colours labels are faint and numbers are not.
std::string progress_line(const std::vector<ProgressPart>& parts, size_t columns, bool colours);

class Progress {
 public:
  // The learning rate behind a number of finished steps, of all; asked when the device has nothing to do. May be empty.
  using Rate = std::function<double(int64_t steps, int64_t all_steps)>;
  explicit Progress(std::FILE* out, Rate rate = {});  // asks what the stream is, and how wide before each line
  Progress(std::FILE* out, bool terminal, bool colours = false, Rate rate = {});
  void step(const StepEvent& event);
  void epoch(const EpochEvent& event);
  // Ends the renewed line, so that what follows starts on its own.
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

// The numbers on one line; what is more than a number is left to the tables: a line for each class, or a matrix.
std::string metrics_text(const MetricValues& values, const std::string& prefix, const std::string& separator);
std::string metric_tables(const MetricValues& values);

}  // namespace heddle::runtime
