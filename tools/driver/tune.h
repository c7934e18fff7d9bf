// tune: measures the candidates for a part of a graph, each alone on the device, and chooses one by the times.
//
//   judge({{3.1, 3.0, 3.2}, {2.0, 2.1, 2.0}}, /*usual=*/0)   ->   the second one
//
// Each candidate is measured in a separate program, whose entry holds only this part, with random operands.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "tools/driver/compile.h"
#include "tools/driver/open_device.h"

namespace heddle::driver {

using TuneClock = std::chrono::steady_clock;

// In each round, all candidates run in turn. A candidate replaces the usual one if its median is at least 3 % lower and
// it was faster in at least three rounds of four. Of several such, the one with the least median is chosen.
struct Verdict {
  size_t chosen = 0;
  std::vector<double> medians;  // by candidate
};
constexpr double kLeastGain = 0.03, kRoundsFaster = 0.75;
Verdict judge(const std::vector<std::vector<double>>& times, size_t usual);  // times[candidate][round]

struct TunedKernel {
  passes::Decision decision;
  size_t usual = 0, chosen = 0;
  std::vector<double> seconds;        // medians, by candidate; 0: not measured
  std::vector<std::string> refusals;  // why a candidate was not measured; by candidate
  std::string left;                   // why nothing was measured, or ""
  bool measured() const { return left.empty(); }
  std::string title() const;  // "matmul.broadcast.add f32[8,4]"
};

// Compiles and measures the candidates until the time `end`. A decision that is not measured by then is not changed.
// `options` has the target, the libraries and the memory limit, which holds for each measured program.
TunedKernel tune_kernel(const passes::Decision& decision, const CompileOptions& options, const DeviceRequest& device,
                        TuneClock::time_point end);

passes::MeasuredChoice choice_of(const TunedKernel& tuned);

}  // namespace heddle::driver
