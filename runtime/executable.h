// Executable: a Program bound to a Device, with its memory segments.
#pragma once
#include <memory>
#include <span>

#include "codegen/program.h"
#include "runtime/device.h"

namespace heddle::runtime {

class Executable {
 public:
  // Allocates the segments and loads the program. Program and device must outlive this.
  Executable(const codegen::Program& program, Device& device);
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  const codegen::Program& program() const { return program_; }
  Device& device() { return device_; }
  void run(const codegen::Entry& entry);  // executes it once and waits
  // As Device::submit, poll and wait. A fed entry may read only rows that were provided.
  uint64_t submit(const codegen::Entry& entry, int64_t repeats);
  uint64_t poll() { return device_.poll(); }
  void wait(uint64_t submission) { device_.wait(submission); }
  StepProfile profile(const codegen::Entry& entry, int64_t repeats, bool spans = false);
  // Copy all bytes of a buffer, in the order of memory (runtime/weights/file_order.h). Entries share the arena, in
  // which their inputs and outputs lie: write inputs just before a run, read outputs just after it.
  void write(const codegen::Buffer& buffer, const void* from);
  void read(const codegen::Buffer& buffer, void* to);
  void write(const codegen::Address& at, const void* from, int64_t bytes);
  // Sets how many rows fed entries may read next (runtime/feed.h).
  void provide_rows(int64_t rows) { rows_ = rows; }
  // The ring, with the records of executed steps. The host can read it.
  const uint64_t* ring() const;
  // The address of a buffer, to fill an input in place; nullptr where the host cannot address the device's memory.
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
