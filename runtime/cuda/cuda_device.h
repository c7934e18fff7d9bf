// CudaDevice: runs programs on an NVIDIA GPU. It needs the driver, and NVRTC where the kernels are not in the cache.
//
// When a program is loaded, each entry is recorded once as a CUDA graph of one step. Entries that feed themselves also
// get graphs of 8 and of 64 steps. An entry with a persistent kernel is a launch of that kernel instead. All that a
// step reads lies in device memory at fixed addresses, so a recorded graph stays valid. Submissions queue up on one
// stream. The host waits only where it is asked to.
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
  int number = 0;          // the GPU's, as the driver counts
  bool ptx = false;        // load PTX, which the driver compiles, instead of machine code
  bool persistent = true;  // execute an entry as one kernel where the program has one for it
  int64_t most_free_bytes =
      INT64_MAX;             // an upper limit of free_bytes: to try the streaming of a small GPU on a large one
  std::string kernel_cache;  // folder of compiled programs; empty: kernel_cache_folder()
  std::optional<PackedCode> packed = {};  // a package's code, all that may be executed; nothing is compiled then
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
  // Times each step alone, and returns no spans.
  StepProfile profile(size_t entry, int64_t repeats, bool spans) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The architecture that kernels for this GPU are compiled for. "sm_90a" means machine code. Where NVRTC does not know
// the GPU, it is the newest earlier architecture that NVRTC knows, as PTX: "compute_121".
std::string cuda_arch(const CudaInfo& info);
// Whether the architecture is one of PTX ("compute_121"), which the driver compiles.
bool is_ptx(const std::string& arch);

}  // namespace heddle::runtime
