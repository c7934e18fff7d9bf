// Machine code for NVIDIA GPUs: a table of the kernels, and files that load.
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

// The program's kernels for one architecture. `parts`: how many images they may be spread over, each compiled at the
// same time.
runtime::CudaBinary compile_cubin(const codegen::Program& program, const std::string& arch, int parts,
                                  std::vector<driver::StageTime>* times);

// Throws where `out` could not be written; to be called before the work.
void require_cubin_place(const std::vector<std::string>& archs, const std::string& out);

// Writes the images where `out` is given, and returns the table.
std::string emit_cubin(const codegen::Program& program, const std::vector<std::string>& archs, const std::string& out,
                       std::vector<driver::StageTime>* times);

}  // namespace heddle::tools
