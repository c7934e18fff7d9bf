// The report of a compiled program: memory and launches of each entry; bytes, flops, predicted time, registers and
// spills of each kernel; on a GPU what is executed of it, and the least time.
#pragma once
#include <string>
#include <vector>

#include "codegen/program.h"
#include "passes/pass.h"
#include "runtime/cuda/cubin_info.h"

namespace heddle::tools {

// `resources` are those of an architecture, empty where NVRTC is missing. `choices`: what takes each product, and why,
// where a library was asked for.
std::string report_json(const codegen::Program& p, const std::string& arch,
                        const std::vector<runtime::KernelResources>& resources,
                        const std::vector<passes::Remark>& choices = {});
std::string report_table(const codegen::Program& p, const std::string& arch,
                         const std::vector<runtime::KernelResources>& resources,
                         const std::vector<passes::Remark>& choices = {});

}  // namespace heddle::tools
