// A program on the host device and in the interpreter, with the same inputs.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ir/evaluate/evaluate.h"
#include "runtime/executable.h"
#include "tests/ptx/ptx_device.h"

namespace heddle::testing {

// Contents of buffers by name; of outputs "output 0", of states their own.
using Images = std::map<std::string, ir::Tensor>;

class ProgramRun {
 public:
  ProgramRun(const codegen::Program& program, runtime::Device& device)
      : program_(program), executable_(program, device) {}

  // Where a state or an input has no tensor in `data`, it keeps what it has.
  void write(const codegen::Entry& entry, const ir::NamedTensors& data);
  void run(const codegen::Entry& entry) { executable_.run(entry); }
  Images read(const codegen::Entry& entry);

 private:
  const codegen::Program& program_;
  runtime::Executable executable_;
};

}  // namespace heddle::testing
