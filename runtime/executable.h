// Executable: a Program bound to a Device, with its memory segments.
#pragma once
#include <memory>
#include <span>

#include "codegen/program.h"
#include "runtime/device.h"

namespace heddle::runtime {

class Executable {
 public:
  // Allocates the segments, loads the program. The program and device must outlive it.
  Executable(const codegen::Program& program, Device& device);
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  const codegen::Program& program() const { return program_; }
  Device& device() { return device_; }
  void run(const codegen::Entry& entry);  // once, to its end
  // As Device::submit, poll and wait. A fed entry runs only over rows that were provided.
  uint64_t submit(const codegen::Entry& entry, int64_t repeats);
  uint64_t poll() { return device_.poll(); }
  void wait(uint64_t submission) { device_.wait(submission); }
  StepProfile profile(const codegen::Entry& entry, int64_t repeats, bool spans = false);
  // As many bytes as the buffer has, in the order in which they lie in memory
  // (runtime/weights/file_order.h). Inputs and outputs of an entry share the arena with other
  // entries: write inputs just before running, read outputs just after.
  void write(const codegen::Buffer& buffer, const void* from);
  void read(const codegen::Buffer& buffer, void* to);
  void write(const codegen::Address& at, const void* from, int64_t bytes);
  // How many rows fed entries may read from now on (runtime/feed.h).
  void provide_rows(int64_t rows) { rows_ = rows; }
  // The ring, which the host can read: records of steps that have been executed.
  const uint64_t* ring() const;
  // For filling an input in place on a device whose memory the host can address; nullptr elsewhere.
  void* host_address(const codegen::Buffer& buffer);

 private:
  size_t index_of(const codegen::Entry& entry) const;
  void release();

  const codegen::Program& program_;
  Device& device_;
  void* locate(const codegen::Address& at) const;

  Segments segments_{};
  void take_rows(const codegen::Entry& entry, int64_t repeats);

  uint64_t submitted_ = 0;  // the last submission's number
  int64_t rows_ = 0;        // provided and not yet read
};

}  // namespace heddle::runtime
