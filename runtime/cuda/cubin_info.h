// What ptxas says about each kernel of a compiled program: registers, memory, spills.
//
//   ptxas info    : Compiling entry function 'add_relu' for 'sm_90a'
//   ptxas info    : Function properties for add_relu
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 18 registers, used 1 barriers, 512 bytes smem
//   -> {name = "add_relu", registers = 18, shared_bytes = 512}
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::runtime {

struct KernelResources {
  std::string name;
  int64_t registers = 0;     // per thread
  int64_t shared_bytes = 0;  // static, per block
  int64_t stack_bytes = 0;   // per thread, in local memory
  int64_t spill_bytes = 0;   // stores and loads together
};

// Reads the log of a compilation with --ptxas-options=-v. The kernels have the log's order. The log is the only source
// for spills.
std::vector<KernelResources> parse_resources(std::string_view log);

}  // namespace heddle::runtime
