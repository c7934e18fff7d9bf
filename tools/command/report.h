// Prints the report of a compiled program. Per entry: memory and launches. Per kernel: bytes, flops, predicted time,
// registers and spills; on a GPU also counts, such as instructions and memory sectors, and the least time.
#pragma once
#include <string>
#include <vector>

#include "codegen/program.h"
#include "passes/pass.h"
#include "runtime/cuda/cubin_info.h"

namespace heddle::tools {

// `resources`: of the kernels on one architecture; empty where NVRTC is missing. `choices`: which implementation each
// product has and why, where a library was asked for.
std::string report_json(const codegen::Program& p, const std::string& arch,
                        const std::vector<runtime::KernelResources>& resources,
                        const std::vector<passes::Remark>& choices = {});
std::string report_table(const codegen::Program& p, const std::string& arch,
                         const std::vector<runtime::KernelResources>& resources,
                         const std::vector<passes::Remark>& choices = {});

}  // namespace heddle::tools
