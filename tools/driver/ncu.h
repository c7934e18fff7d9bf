// Counters of NVIDIA's ncu (Nsight Compute), which executes a program and reads the GPU's own counters of its kernels.
//
//   ncu_counters({"/usr/bin/heddle", "bench", "m.json", ...}, 40)
//     -> {"k_feed": {"seconds": 2.1e-6, "sectors_read": 12544, ...}}
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::driver {

using Counters = std::map<std::string, double>;  // by our names of them

// The path of ncu. Throws UserError (missing) where $PATH has none.
std::string find_ncu();
// By kernel symbol, the medians over the executions of the first `launches` launches of a command that is told to run
// steps as launches ($HEDDLE_CUDA_STEPS). Throws UserError where ncu fails,
// with what it says.
std::map<std::string, Counters> ncu_counters(const std::vector<std::string>& command, int64_t launches);
// What ncu writes with --csv --page raw --print-units base. Throws UserError where it is something else.
std::map<std::string, Counters> parse_ncu(std::string_view csv);

}  // namespace heddle::driver
