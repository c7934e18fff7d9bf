// Profile: the measured time of each step of an entry, with its bytes, its operations and its predicted time.
//
//   join(compiled, entry, times, ceilings)   ->   a row for each launch, library call and copy
//
// tools/driver/profile_difference.h compares two profiles.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/device.h"
#include "runtime/host/peaks.h"
#include "tools/driver/compile.h"

namespace heddle::driver {

// A step of the entry that is not a loop. Figures are those of one run of the entry, over all turns of the loops around
// the step.
struct ProfiledKernel {
  std::string title;               // the kernel's name in the IR; "copy" for a copy
  std::string symbol;              // name of a generated kernel in the kernel text, else ""
  std::string made_by;             // "generated", the library's name, or "copy"
  std::vector<std::string> ops;    // its operators, in order; for a copy: its reason
  std::vector<std::string> lines;  // places in the model it comes from: "model.json:12"
  std::string results;             // types of its results: "f32[128,10]"
  std::string loop;                // the loop around it, or ""
  int64_t executions = 1;
  double seconds = 0;                          // the mean of the middle rounds
  double least_seconds = 0, most_seconds = 0;  // of all rounds
  int64_t bytes = 0;
  double flops = 0;
  double predicted_seconds = 0;
  double bound_seconds = 0;                // the least time that the ceilings allow
  std::map<std::string, double> counts;    // of one execution on a GPU, by the compiler; empty on the host
  std::map<std::string, double> counters;  // the same, measured by ncu, if asked for
};

// The peak performance of a machine, and the source of these figures.
struct Ceilings {
  std::string source;  // "measured here", or "data sheet of h200"
  double flops = 0;    // per second, f32
  std::vector<runtime::Bandwidth> bandwidths;
};

struct Profile {
  std::string model, entry, device;
  int64_t batch = 0;
  int64_t rounds = 0, steps_per_round = 0;
  double step_seconds = 0;  // of the whole entry, measured without timing its steps; mean of the middle rounds
  std::string note;         // how the profiled program differs from a training
  Ceilings ceilings;
  std::vector<ProfiledKernel> kernels;  // in the order in which they run

  double kernel_seconds() const;
  double outside_seconds() const { return step_seconds - kernel_seconds(); }
};

// The measurements: the times of each round, for the whole step and for its parts.
struct MeasuredRounds {
  int64_t steps = 1;                                    // per round
  std::vector<double> step_seconds;                     // by round
  std::vector<std::vector<runtime::StepTime>> kernels;  // by round
};

double median(std::vector<double> values);

// The ceilings in the target's data sheet.
Ceilings ceilings_of(const ir::Target& target);

// `compiled` must have its module and predictions. On a GPU the bound is the compiler's
// (codegen::Kernel::least_seconds); on the host it comes from the ceilings. The caller fills in the device and the
// batch.
Profile join(const Compiled& compiled, const codegen::Entry& entry, const ir::Target& target,
             const MeasuredRounds& measured, const Ceilings& ceilings);

}  // namespace heddle::driver
