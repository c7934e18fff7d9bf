// PtxDevice: a runtime::Device whose kernels are NVRTC's PTX, executed by the interpreter.
//
//   PtxDevice device;
//   runtime::Executable executable(program, device);   // of a program planned for a GPU, without library calls
//   executable.run(entry);
//   device.findings() -> {}                            // what a GPU would have done wrong without saying so
//
// The host faults when it touches an address that `allocate` returned. The only file here that knows the runtime.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/device.h"
#include "tests/ptx/launch.h"

namespace heddle::testing {

struct PtxOptions {
  std::string arch = "sm_90a";
  int64_t most_blocks = 264;       // of kernels that take any number: two for each multiprocessor of an H200
  bool persistent = true;          // one kernel for all steps of an entry where the program has one, of
  int64_t persistent_blocks = 12;  // blocks at most: all of them take turns
  ptx::LaunchOptions launch = {};
};

class PtxDevice final : public runtime::Device {
 public:
  explicit PtxDevice(PtxOptions options = {}) : options_(std::move(options)) {}

  std::string description() const override { return "PTX interpreter: " + options_.arch; }
  void* allocate(int64_t bytes, runtime::Memory kind = runtime::Memory::device) override;
  void release(void* memory) override;
  void write(void* to, const void* from, int64_t bytes) override;
  void read(void* to, const void* from, int64_t bytes) override;
  void prefetch(void* to, const void* from, int64_t bytes) override { write(to, from, bytes); }
  void load(const codegen::Program& program, const runtime::Segments& segments) override;
  // Executes before it returns.
  uint64_t submit(size_t entry, int64_t repeats) override;
  uint64_t poll() override { return submissions_; }
  void wait(uint64_t) override {}
  // Nothing is timed: the titles alone.
  runtime::StepProfile profile(size_t entry, int64_t repeats, bool spans) override;

  const std::vector<ptx::Finding>& findings() const { return findings_; }
  // Of all launches until now, by kernel.
  const std::map<std::string, ptx::Counters>& counters() const { return counters_; }
  ptx::Counters total() const;

 private:
  uint64_t address(const codegen::Address& at) const;
  std::vector<std::byte> parameters(const codegen::Launch& launch) const;
  void run_steps(const std::vector<codegen::Step>& steps);
  void run_launch(const codegen::Launch& launch);
  void run_persistent(const codegen::Kernel& kernel, int64_t steps);
  // `what` has the grid, and what the launch may touch.
  void run_kernel(const codegen::Kernel& kernel, std::span<const std::byte> parameters, ptx::Launch what);

  PtxOptions options_;
  ptx::DeviceMemory memory_;
  ptx::Module module_;
  std::unique_ptr<ptx::Loaded> loaded_;
  const codegen::Program* program_ = nullptr;
  runtime::Segments segments_{};
  std::map<void*, std::unique_ptr<std::byte[]>> shared_;  // with the host
  std::vector<int64_t> turns_;                            // of the loops around the step that is being executed
  uint64_t submissions_ = 0;
  std::vector<ptx::Finding> findings_;
  std::map<std::string, ptx::Counters> counters_;
};

}  // namespace heddle::testing
