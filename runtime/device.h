// Device: what executes a Program's steps. The only inheritance in Heddle.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "codegen/program.h"

namespace heddle::runtime {

// What one step of an entry took, for finding out where time goes.
struct StepTime {
  std::string title;
  double seconds = 0;  // the least of several runs
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string description() const = 0;  // one line: "host: 2 threads, AVX-512, g++ 12.2"

  // Device memory, 256-byte aligned and zeroed. Called once per segment, never during a step.
  virtual void* allocate(int64_t bytes) = 0;
  virtual void release(void* memory) = 0;
  virtual void write(void* to, const void* from, int64_t bytes) = 0;  // from host memory
  virtual void read(void* to, const void* from, int64_t bytes) = 0;   // into host memory, after all earlier work

  // Whether addresses from `allocate` can be used directly by the caller.
  virtual bool host_addressable() const { return false; }

  // Compiles the program's kernels and builds its library primitives; afterwards `run` allocates nothing.
  virtual void load(const codegen::Program& program, void* state, void* arena) = 0;
  // Executes one entry of the loaded program. Returns when its results can be read.
  virtual void run(size_t entry) = 0;
  // Executes the entry `repeats` times, timing each of its steps alone.
  virtual std::vector<StepTime> profile(size_t entry, int repeats) = 0;
};

}  // namespace heddle::runtime
