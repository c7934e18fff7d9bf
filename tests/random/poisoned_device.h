// A host device whose arena holds rubbish before each run, and whose segments lie between marks that nobody may touch.
//
// What is read before it is written then differs between two runs; what is written outside shows.
#pragma once
#include <map>
#include <vector>

#include "runtime/host/host_device.h"

namespace heddle::testing {

class PoisonedDevice final : public runtime::Device {
 public:
  explicit PoisonedDevice(runtime::HostOptions options) : host_(std::move(options)) {}

  std::string description() const override { return host_.description(); }
  void* allocate(int64_t bytes, runtime::Memory kind = runtime::Memory::device) override;
  void release(void* memory) override;
  void write(void* to, const void* from, int64_t bytes) override { host_.write(to, from, bytes); }
  void prefetch(void* to, const void* from, int64_t bytes) override { host_.prefetch(to, from, bytes); }
  void read(void* to, const void* from, int64_t bytes) override { host_.read(to, from, bytes); }
  void load(const codegen::Program& program, const runtime::Segments& segments) override;
  uint64_t submit(size_t entry, int64_t repeats) override { return host_.submit(entry, repeats); }
  uint64_t poll() override { return host_.poll(); }
  void wait(uint64_t submission) override { host_.wait(submission); }
  runtime::StepProfile profile(size_t entry, int64_t repeats, bool spans) override {
    return host_.profile(entry, repeats, spans);
  }

  void poison_arena(std::byte with);
  bool marks_intact() const;

 private:
  runtime::HostDevice host_;
  std::map<void*, int64_t> sizes_;  // of the segments
  void* arena_ = nullptr;
};

}  // namespace heddle::testing
