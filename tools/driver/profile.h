// The profile of an entry: what each of its steps took, beside what it moves, computes and should take.
//
//   join(compiled, entry, times, ceilings)   ->   a row for each launch, library call and copy
//
// Two profiles are compared by tools/driver/profile_difference.h, whatever the numbers in their kernels' names.
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

// A step of the entry that is no loop. Figures are those of one run of the entry: of all turns of the loops around it.
struct ProfiledKernel {
  std::string title;               // the kernel's name in IR; of a copy "copy"
  std::string symbol;              // of a generated kernel in the program's text, else ""
  std::string made_by;             // "generated", the library's name, or "copy"
  std::vector<std::string> ops;    // its operators, in their order; of a copy why it is there
  std::vector<std::string> lines;  // "model.json:12": what of the model it comes from
  std::string results;             // "f32[128,10]": types of what it makes
  std::string loop;                // the loop around it, or ""
  int64_t executions = 1;
  double seconds = 0;                          // the mean of the middle rounds
  double least_seconds = 0, most_seconds = 0;  // of all rounds
  int64_t bytes = 0;
  double flops = 0;
  double predicted_seconds = 0;
  double bound_seconds = 0;                // the least that the machine's ceilings allow
  std::map<std::string, double> counts;    // of one execution on a GPU, as the compiler counts; none on the host
  std::map<std::string, double> counters;  // the same by ncu, where it was asked
};

// What a machine does at most, and who says so.
struct Ceilings {
  std::string source;  // "measured here", or "data sheet of h200"
  double flops = 0;    // per second, f32
  std::vector<runtime::Bandwidth> bandwidths;
};

struct Profile {
  std::string model, entry, device;
  int64_t batch = 0;
  int64_t rounds = 0, steps_per_round = 0;
  double step_seconds = 0;  // of the entry, with nothing timed inside; of the middle rounds, too
  std::string note;         // where what was profiled is not what a training runs
  Ceilings ceilings;
  std::vector<ProfiledKernel> kernels;  // in the order in which they run

  double kernel_seconds() const;
  double outside_seconds() const { return step_seconds - kernel_seconds(); }
};

// What was measured: each round's times, those of a whole step and those of its parts.
struct MeasuredRounds {
  int64_t steps = 1;                                    // of a round
  std::vector<double> step_seconds;                     // by round
  std::vector<std::vector<runtime::StepTime>> kernels;  // by round
};

double median(std::vector<double> values);

// Of the target's data sheet.
Ceilings ceilings_of(const ir::Target& target);

// `compiled` has its module and predictions. On a GPU the bound is the compiler's own (codegen::Kernel::least_seconds),
// elsewhere what the ceilings say. The caller fills in the device and the batch.
Profile join(const Compiled& compiled, const codegen::Entry& entry, const ir::Target& target,
             const MeasuredRounds& measured, const Ceilings& ceilings);

}  // namespace heddle::driver
