#include "tests/ptx/small_kernel.h"

#include <algorithm>
#include <cstring>

namespace heddle::ptx {

std::string small_ptx(const std::string& body, const std::string& variables) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n"
         ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2)\n{\n"
         ".reg .pred %p<8>; .reg .b16 %rs<8>; .reg .b32 %r<32>; .reg .f32 %f<32>; .reg .b64 %rd<16>; .reg .f64 "
         "%fd<8>;\n" +
         variables +
         "\nld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1]; ld.param.u64 %rd3, [p2];\n"
         "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd4, %r0, 4; add.s64 %rd4, %rd4, %rd1;\n" +
         body + "\nret;\n}\n";
}

SmallKernel::SmallKernel(const std::string& body, const std::string& variables, bool follow_writes)
    : memory(follow_writes), module_(parse(small_ptx(body, variables))), loaded_(module_, memory) {
  a = memory.allocate(kBufferBytes);
  b = memory.allocate(kBufferBytes);
  c = memory.allocate(kBufferBytes);
}

Outcome SmallKernel::run(const Shape& shape) {
  const uint64_t parameters[] = {a, b, shape.third != 0 ? shape.third : c};
  return launch(loaded_,
                {.kernel = "k",
                 .grid = shape.grid,
                 .block = shape.block,
                 .parameters = std::as_bytes(std::span(parameters)),
                 .cooperative = shape.cooperative,
                 .touches = shape.touches},
                memory, shape.options);
}

std::vector<uint32_t> SmallKernel::words(uint64_t address, size_t count) const {
  std::vector<uint32_t> values(count);
  memory.read(values.data(), address, 4 * count);
  return values;
}
std::vector<float> SmallKernel::floats(uint64_t address, size_t count) const {
  std::vector<float> values(count);
  memory.read(values.data(), address, 4 * count);
  return values;
}
void SmallKernel::set_words(uint64_t address, const std::vector<uint32_t>& values) {
  memory.write(address, values.data(), 4 * values.size());
}
void SmallKernel::set_floats(uint64_t address, const std::vector<float>& values) {
  memory.write(address, values.data(), 4 * values.size());
}

size_t count(const Outcome& o, Check check) {
  return static_cast<size_t>(
      std::count_if(o.findings.begin(), o.findings.end(), [&](const Finding& f) { return f.check == check; }));
}

std::string all_findings(const Outcome& o) {
  std::string text;
  for (const Finding& f : o.findings) text += to_string(f) + "\n";
  return text;
}

}  // namespace heddle::ptx
