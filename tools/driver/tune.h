// tune: measures the candidates for a part of a graph, each alone on the device, and judges the times.
//
//   judge({{3.1, 3.0, 3.2}, {2.0, 2.1, 2.0}}, /*usual=*/0)   ->   the second one
//
// What is measured is a program of its own: an entry that holds the part alone, with random operands.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "tools/driver/compile.h"
#include "tools/driver/open_device.h"

namespace heddle::driver {

using TuneClock = std::chrono::steady_clock;

// Rounds in which all candidates take turns. Another one replaces the usual one where its median is less by 3 % at
// least, and it was faster in three rounds of four; of several such the one with the least median.
struct Verdict {
  size_t chosen = 0;
  std::vector<double> medians;  // by candidate
};
constexpr double kLeastGain = 0.03, kRoundsFaster = 0.75;
Verdict judge(const std::vector<std::vector<double>>& times, size_t usual);  // by candidate, by round

struct TunedKernel {
  passes::Decision decision;
  size_t usual = 0, chosen = 0;
  std::vector<double> seconds;        // medians, by candidate; 0: not measured
  std::vector<std::string> refusals;  // why not, by candidate
  std::string left;                   // why nothing was measured, or ""
  bool measured() const { return left.empty(); }
  std::string title() const;  // "matmul.broadcast.add f32[8,4]"
};

// Before it compiles another candidate, it looks at the time: what is not done by then is left as it was. `options` has
// the target, the libraries and the limit of memory, which holds for each of these programs.
TunedKernel tune_kernel(const passes::Decision& decision, const CompileOptions& options, const DeviceRequest& device,
                        TuneClock::time_point end);

passes::MeasuredChoice choice_of(const TunedKernel& tuned);

}  // namespace heddle::driver
