// HostRun: a module through the whole pipeline onto the host device, called as a function of named tensors.
//
//   HostRun run(module, "train");
//   ir::Evaluation done = run(inputs);   // the same shape of answer as ir::evaluate
#pragma once
#include <memory>
#include <string>

#include "codegen/program.h"
#include "ir/evaluate/evaluate.h"
#include "ir/kernel/target.h"
#include "passes/pass.h"

namespace heddle::runtime {
class Executable;
}
namespace heddle::testing {

struct HostRunOptions {
  int threads = 1;
  bool library = true;             // contractions by oneDNN; otherwise by generated kernels
  bool pipeline = true;            // otherwise the module has been planned already
  ir::Target target = ir::host();  // whose schedules the kernels have; the host executes any
};

// What the command line gives the passes: the host, and oneDNN where it is wanted.
passes::Options host_options(bool library = true);
// `gradient` has a meaning only once it is differentiated.
ir::Module differentiated(ir::Module module);
// The module through the pipeline (as the options say) and lowered: what HostRun runs.
codegen::Program host_program(ir::Module module, const std::string& name, const HostRunOptions& options = {});

// The entry of this name, which may be one of a test's own.
const codegen::Entry& entry_named(const codegen::Program& program, const std::string& name);

// A tensor with its axes as files have them, as it lies in memory.
ir::Tensor in_memory(const ir::Tensor& t, const ir::Layout& layout);
// What the buffer holds, with its axes as they lie in memory.
ir::Tensor read_buffer(runtime::Executable& executable, const codegen::Buffer& b);

class HostRun {
 public:
  // `entry`: the one that is run where none is named.
  HostRun(ir::Module module, const std::string& entry, const HostRunOptions& options = {});
  ~HostRun();

  // Inputs, params and states by the names they had before the pipeline. Outputs in the order of `return`; `updated`
  // holds the states that the entry updates, by those names.
  ir::Evaluation operator()(const ir::NamedTensors& inputs);
  ir::Evaluation operator()(const std::string& entry, const ir::NamedTensors& inputs);
  const codegen::Program& program() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heddle::testing
