// emit_kernel: prints kernels as CUDA C++ in Heddle's dialect (docs/dialect.md). NVRTC compiles the text for a GPU, and
// the system compiler compiles the same text for the host. -D options select the preamble's branch.
#pragma once
#include <string>

#include "codegen/program.h"
#include "ir/graph.h"

namespace heddle::codegen {

// The preamble: the files codegen/device/*.cuh as one text, embedded at build time.
const std::string& preamble();

struct EmittedKernel {
  std::string text;  // one kernel with its comment
  Kernel facts;
  bool scratch = false;  // it takes a pointer `scratch`, to the schedule's workspace
  int64_t counters = 0;  // u32 counters at its pointer `counter`; zero before and after a launch
};
// Prints a kernel. The caller makes `symbol` unique among the program's kernels; facts.name is the symbol in the text.
// The kernel must not be a library call, which has no text.
EmittedKernel emit_kernel(const ir::Graph& kernel, const std::string& symbol);

// The columns of a recurrent kernel that one block of `threads` takes. All columns are `units` units of each gate; the
// slice has `count` neighbouring units of each gate.
struct UnitSlice {
  int64_t units = 0, count = 0, threads = 0;
};
// A function that computes a slice of the kernel; a persistent kernel calls it (codegen/resident.h). The kernel is a
// product over all rows, whose right side stays in shared memory, or a pointwise kernel of rows and units. Parameters:
// the kernel's arrays and scalars, then the first unit. A product also takes the offset of its weights in shared
// memory, and a variable with the slice whose weights are there.
std::string emit_slice(const ir::Graph& kernel, const std::string& symbol, const UnitSlice& slice);

// The scalar functions (namespace op) that these kernels use. Each is printed once.
std::string emit_scalar_functions(const std::vector<const ir::Graph*>& kernels);

}  // namespace heddle::codegen
