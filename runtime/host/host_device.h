// HostDevice: runs programs on the processor. The system compiler compiles the program's kernel text. Matrix products
// and convolutions are calls of oneDNN. Results do not depend on the number of threads.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/compile/packed_code.h"
#include "runtime/device.h"

namespace heddle::runtime {

struct HostOptions {
  int threads = 0;                        // 0: one per processor that this process may use
  std::string kernel_cache;               // folder of compiled programs; empty: kernel_cache_folder()
  std::optional<PackedCode> packed = {};  // a package's code, all that may be executed; nothing is compiled then
};

class HostDevice final : public Device {
 public:
  explicit HostDevice(HostOptions options = {});
  ~HostDevice() override;

  std::string description() const override;
  void* allocate(int64_t bytes, Memory kind = Memory::device) override;
  void release(void* memory) override;
  void write(void* to, const void* from, int64_t bytes) override;
  void prefetch(void* to, const void* from, int64_t bytes) override { write(to, from, bytes); }
  void read(void* to, const void* from, int64_t bytes) override;
  bool host_addressable() const override { return true; }
  // Throws UserError when the compiler is missing or fails, or a library cannot execute a call.
  void load(const codegen::Program& program, const Segments& segments) override;
  // Returns when all is executed.
  uint64_t submit(size_t entry, int64_t repeats) override;
  uint64_t poll() override;
  void wait(uint64_t submission) override;
  StepProfile profile(size_t entry, int64_t repeats, bool spans) override;

  int threads() const;
  bool loaded_from_cache() const;  // whether the last load compiled nothing

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heddle::runtime
