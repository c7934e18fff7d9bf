#include "tests/ptx/program_run.h"

#include <fmt/format.h>

#include "ir/evaluate/tensor_bytes.h"
#include "tests/support/host_run.h"

namespace heddle::testing {

void ProgramRun::write(const codegen::Entry& entry, const ir::NamedTensors& data) {
  for (const auto* buffers : {&program_.states, &entry.inputs})
    for (const codegen::Buffer& b : *buffers)
      if (const auto it = data.find(b.name); it != data.end()) executable_.write(b, to_bytes(it->second).data());
}

Images ProgramRun::read(const codegen::Entry& entry) {
  Images images;
  for (size_t i = 0; i < entry.outputs.size(); ++i)
    images.emplace(fmt::format("output {}", i), read_buffer(executable_, entry.outputs[i]));
  for (const codegen::Buffer& b : program_.states) images.emplace("state %" + b.name, read_buffer(executable_, b));
  return images;
}

}  // namespace heddle::testing
