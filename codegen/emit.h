// Prints kernels as CUDA C++ in Heddle's dialect (docs/dialect.md). One text: NVRTC compiles it for a GPU, the system
// compiler for the host; -D options select the preamble's branch.
#pragma once
#include <string>

#include "codegen/program.h"
#include "ir/graph.h"

namespace heddle::codegen {

// The preamble: codegen/device/*.cuh in one text, embedded at build time.
const std::string& preamble();

struct EmittedKernel {
  std::string text;  // one kernel with its comment
  Kernel facts;
  bool scratch = false;  // it takes a pointer `scratch`, to the schedule's workspace
  int64_t counters = 0;  // u32, zero before and after a launch: what its pointer `counter` leads to
};
// `symbol` is a wish, unique among the program's kernels; facts.name is the symbol in the text. Kernels of schedule
// contract and opaque with an impl have no text and must not be passed.
EmittedKernel emit_kernel(const ir::Graph& kernel, const std::string& symbol);

// The scalar functions (namespace op) that these kernels use, each once.
std::string emit_scalar_functions(const std::vector<const ir::Graph*>& kernels);

}  // namespace heddle::codegen
