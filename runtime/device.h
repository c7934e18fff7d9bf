// Device: what executes a Program's steps. The only inheritance in Heddle.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "codegen/program.h"

namespace heddle::runtime {

// What a step of an entry took, for finding out where time goes.
struct StepTime {
  std::string title;
  double seconds = 0;  // in one run of the entry: of all executions, where loops are around it
};
// A thread's share in one execution of a step. Seconds count from a moment that all of them share.
struct StepSpan {
  size_t step = 0;
  int thread = 0;
  double begin = 0, end = 0;
};
struct StepProfile {
  std::vector<StepTime> steps;  // those that are no loops, in the order of codegen::for_each_step
  std::vector<StepSpan> spans;  // of the last run, where they were asked for and the device has them
};

// Where the segments of a program lie, by codegen::Segment.
using Segments = std::array<void*, codegen::kSegments>;

enum class Memory {
  device,
  shared,  // with the host, which may read it at any time at the same address
};

// Work is done in the order in which it is asked for: a write comes after the entries submitted before it.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string description() const = 0;  // one line: "host: 2 threads, AVX-512, g++ 12.2"

  // 256-byte aligned and zeroed. Called for segments and columns of the data, never during a step.
  virtual void* allocate(int64_t bytes, Memory kind = Memory::device) = 0;
  virtual void release(void* memory) = 0;
  // How much more can be allocated, as far as the device knows.
  virtual int64_t free_bytes() const { return std::numeric_limits<int64_t>::max(); }
  virtual void write(void* to, const void* from, int64_t bytes) = 0;  // from host memory
  // From Memory::shared, at the same time as what was submitted before; what is submitted next
  // waits for it. `from` must stay as it is until that has been executed.
  virtual void prefetch(void* to, const void* from, int64_t bytes) = 0;
  virtual void read(void* to, const void* from, int64_t bytes) = 0;  // into host memory, after all earlier work

  // Whether addresses from `allocate` can be used directly by the caller.
  virtual bool host_addressable() const { return false; }

  // Compiles the program's kernels and builds its library primitives; afterwards `submit` allocates nothing.
  virtual void load(const codegen::Program& program, const Segments& segments) = 0;
  // Executes one entry of the loaded program `repeats` times, one after another. Returns the submission's number, which
  // counts from 1, at once where the device works by itself.
  virtual uint64_t submit(size_t entry, int64_t repeats) = 0;
  // The number of the last submission that has been executed, with all before it.
  virtual uint64_t poll() = 0;
  // Returns when this submission has been executed.
  virtual void wait(uint64_t submission) = 0;
  // Executes the entry `repeats` times, and times its steps: the means over the runs.
  virtual StepProfile profile(size_t entry, int64_t repeats, bool spans) = 0;
};

}  // namespace heddle::runtime
