// A device that holds memory and computes nothing: what a test of the runtime begins with.
#pragma once
#include <cstring>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace heddle::runtime {

class MemoryDevice : public Device {
 public:
  std::string description() const override { return "memory"; }
  void* allocate(int64_t bytes, Memory) override {
    return memory_.emplace_back(std::vector<char>(static_cast<size_t>(bytes))).data();
  }
  void release(void*) override {}
  void write(void* to, const void* from, int64_t bytes) override { std::memcpy(to, from, static_cast<size_t>(bytes)); }
  void prefetch(void* to, const void* from, int64_t bytes) override { MemoryDevice::write(to, from, bytes); }
  void read(void* to, const void* from, int64_t bytes) override { std::memcpy(to, from, static_cast<size_t>(bytes)); }
  bool host_addressable() const override { return false; }
  void load(const codegen::Program&, const Segments&) override {}
  uint64_t submit(size_t, int64_t) override { return ++submissions_; }
  uint64_t poll() override { return submissions_; }
  void wait(uint64_t) override {}
  StepProfile profile(size_t, int64_t, bool) override { return {}; }

 protected:
  uint64_t submissions_ = 0;

 private:
  std::vector<std::vector<char>> memory_;
};

}  // namespace heddle::runtime
