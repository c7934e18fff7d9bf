// Emits machine code for NVIDIA GPUs: cubin files, and a table of the kernels.
//
//   --arch sm_90a -o step.cubin                -> step.cubin, one ELF image
//   --arch sm_80 --arch sm_90a -o step         -> step/sm_80.cubin, step/sm_90a.cubin
#pragma once
#include <string>
#include <vector>

#include "codegen/program.h"
#include "runtime/cuda/nvrtc.h"
#include "tools/driver/compile.h"

namespace heddle::tools {

// Compiles the program's kernels for one architecture. `parts`: the most images, which are compiled in parallel.
runtime::CudaBinary compile_cubin(const codegen::Program& program, const std::string& arch, int parts,
                                  std::vector<driver::StageTime>* times);

// Throws where `out` cannot be written. To be called before compiling.
void require_cubin_place(const std::vector<std::string>& archs, const std::string& out);

// Writes the images if `out` is given, and returns the table.
std::string emit_cubin(const codegen::Program& program, const std::vector<std::string>& archs, const std::string& out,
                       std::vector<driver::StageTime>* times);

}  // namespace heddle::tools
