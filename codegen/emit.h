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

// Of a kernel's columns, which are `units` of each of some gates, `count` neighbouring units of each: what one block of `threads` takes.
struct UnitSlice {
  int64_t units = 0, count = 0, threads = 0;
};
// The kernel's work on a slice, as a function that a persistent kernel calls (codegen/resident.h): a product of all rows, whose right
// side stays in shared memory, or a pointwise kernel of rows and units. It takes the kernel's arrays and scalars, then the first
// unit; a product takes where its weights lie in shared memory, and the slice whose weights are there.
std::string emit_slice(const ir::Graph& kernel, const std::string& symbol, const UnitSlice& slice);

// The scalar functions (namespace op) that these kernels use, each once.
std::string emit_scalar_functions(const std::vector<const ir::Graph*>& kernels);

}  // namespace heddle::codegen
