// Device: executes the steps of a Program. It is the only base class in Heddle.
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

// The time of one step of an entry, for profiles.
struct StepTime {
  std::string title;
  double seconds = 0;  // in one run of the entry; in a loop, of all turns
};
// A thread's part in one execution of a step. Seconds count from the same moment for all threads.
struct StepSpan {
  size_t step = 0;
  int thread = 0;
  double begin = 0, end = 0;
};
struct StepProfile {
  std::vector<StepTime> steps;  // all but loops, in the order of codegen::for_each_step
  std::vector<StepSpan> spans;  // of the last run, where asked for and where the device measures them
};

// The addresses of a program's segments, indexed by codegen::Segment.
using Segments = std::array<void*, codegen::kSegments>;

enum class Memory {
  device,
  shared,  // the host can also read it, at any time and at the same address
};

// Work is executed in the order of the calls: a write comes after the entries that were submitted before it.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string description() const = 0;  // one line: "host: 2 threads, AVX-512, g++ 12.2"

  // Memory is 256-byte aligned and zeroed. Called for segments and data columns, never during a step.
  virtual void* allocate(int64_t bytes, Memory kind = Memory::device) = 0;
  virtual void release(void* memory) = 0;
  // How many more bytes can be allocated, as far as the device knows.
  virtual int64_t free_bytes() const { return std::numeric_limits<int64_t>::max(); }
  virtual void write(void* to, const void* from, int64_t bytes) = 0;  // from host memory
  // Copies from Memory::shared while earlier submissions run. The next submission waits for the copy. `from` must not
  // change until that submission has been executed.
  virtual void prefetch(void* to, const void* from, int64_t bytes) = 0;
  virtual void read(void* to, const void* from, int64_t bytes) = 0;  // to host memory, after all earlier work

  // Whether the caller may use addresses from `allocate` directly.
  virtual bool host_addressable() const { return false; }

  // Compiles the program's kernels and builds its library calls. Afterwards `submit` allocates nothing.
  virtual void load(const codegen::Program& program, const Segments& segments) = 0;
  // Executes an entry of the loaded program `repeats` times, one after another. Returns the submission's number, which
  // counts from 1. A GPU returns at once; the host returns when the work is done.
  virtual uint64_t submit(size_t entry, int64_t repeats) = 0;
  // The number of the last submission that has been executed; all before it have been, too.
  virtual uint64_t poll() = 0;
  // Returns when this submission has been executed.
  virtual void wait(uint64_t submission) = 0;
  // Executes the entry `repeats` times and measures its steps. Times are means over the runs.
  virtual StepProfile profile(size_t entry, int64_t repeats, bool spans) = 0;
};

}  // namespace heddle::runtime
