// Executable: a Program bound to a Device, with its two memory segments.
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
  void run(const codegen::Entry& entry);
  std::vector<StepTime> profile(const codegen::Entry& entry, int repeats);
  // Bytes must be the buffer's size. Inputs and outputs of an entry share the arena with other entries: write inputs
  // just before running, read outputs just after.
  void write(const codegen::Buffer& buffer, const void* from);
  void read(const codegen::Buffer& buffer, void* to);
  // For filling an input in place on a device whose memory the host can address; nullptr elsewhere.
  void* host_address(const codegen::Buffer& buffer);

 private:
  size_t index_of(const codegen::Entry& entry) const;
  void release();

  const codegen::Program& program_;
  Device& device_;
  void* state_ = nullptr;
  void* arena_ = nullptr;
};

}  // namespace heddle::runtime
