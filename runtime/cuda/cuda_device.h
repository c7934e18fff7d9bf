// CudaDevice: runs programs on an NVIDIA GPU. Needs the driver; NVRTC where the kernels are not in
// the cache.
//
// Each entry is recorded as a graph once, when the program is loaded: one step, and for entries
// that feed themselves 8 and 64 steps; those that have a persistent kernel are a launch of that.
// Everything a step reads lies in device memory at fixed addresses, so what is recorded stays
// right. Submissions queue up behind one another on one stream; the host waits only where it is
// asked to.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "runtime/compile/packed_code.h"
#include "runtime/cuda/driver.h"
#include "runtime/device.h"

namespace heddle::runtime {

struct CudaDeviceOptions {
  int number = 0;          // of the GPU, as the driver counts
  bool ptx = false;        // load PTX, which the driver compiles, instead of machine code
  bool persistent = true;  // execute an entry as one kernel where the program has one for it
  int64_t most_free_bytes =
      INT64_MAX;             // what free_bytes says at most: for trying a small GPU's streaming on a large one
  std::string kernel_cache;  // folder of compiled programs; empty: kernel_cache_folder()
  std::optional<PackedCode> packed = {};  // all that is executed, in machine code and PTX; nothing is compiled then
};

class CudaDevice final : public Device {
 public:
  // Throws UserError (exit 3) where there is no driver or no such GPU.
  explicit CudaDevice(CudaDeviceOptions options = {});
  ~CudaDevice() override;

  std::string description() const override;
  void* allocate(int64_t bytes, Memory kind = Memory::device) override;
  void release(void* memory) override;
  int64_t free_bytes() const override;
  void write(void* to, const void* from, int64_t bytes) override;
  void prefetch(void* to, const void* from, int64_t bytes) override;
  void read(void* to, const void* from, int64_t bytes) override;
  // Throws UserError when NVRTC is missing or rejects the text, or a step calls a library that is not there.
  void load(const codegen::Program& program, const Segments& segments) override;
  uint64_t submit(size_t entry, int64_t repeats) override;
  uint64_t poll() override;
  void wait(uint64_t submission) override;
  // Each step alone; without spans.
  StepProfile profile(size_t entry, int64_t repeats, bool spans) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What kernels for this GPU are compiled for: "sm_90a", machine code; for one that NVRTC does not
// know "compute_121", PTX for the newest before it that NVRTC knows.
std::string cuda_arch(const CudaInfo& info);
// Whether there is no machine code for it, and the driver compiles the PTX.
bool is_ptx(const std::string& arch);

}  // namespace heddle::runtime
