// Kernels of a few lines for the tests of the interpreter.
//
//   SmallKernel k("st.global.u32 [%rd1], %r1;");     // %rd1, %rd2, %rd3: the parameters; registers of all types
//   k.memory.write(k.a, ...);  k.run({.block = {32}});  k.words(k.a, 32)
#pragma once
#include <string>
#include <vector>

#include "tests/ptx/launch.h"

namespace heddle::ptx {

constexpr size_t kBufferBytes = 4096;

struct Shape {
  Dim3 grid = {}, block = {32};
  bool cooperative = false;
  LaunchOptions options = {};
  uint64_t third = 0;  // instead of the third buffer's address
  std::vector<Extent> touches = {};
};

class SmallKernel {
 public:
  // `variables`: declarations before the first instruction. Every thread has its number in %r0, its block's in %r1, and
  // its number times four behind the first buffer in %rd4.
  explicit SmallKernel(const std::string& body, const std::string& variables = "", bool follow_writes = false);

  Outcome run(const Shape& shape = {});
  std::vector<uint32_t> words(uint64_t address, size_t count) const;
  std::vector<float> floats(uint64_t address, size_t count) const;
  void set_words(uint64_t address, const std::vector<uint32_t>& values);
  void set_floats(uint64_t address, const std::vector<float>& values);

  DeviceMemory memory;
  uint64_t a = 0, b = 0, c = 0;  // buffers of kBufferBytes

 private:
  Module module_;
  Loaded loaded_;
};

// How many findings the kernel has of this kind, and of others.
size_t count(const Outcome& o, Check check);
std::string all_findings(const Outcome& o);
std::string small_ptx(const std::string& body, const std::string& variables);

}  // namespace heddle::ptx
