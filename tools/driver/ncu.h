// Runs NVIDIA's ncu (Nsight Compute), which executes a program and reads the GPU's counters for its kernels.
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

using Counters = std::map<std::string, double>;  // by Heddle's names

// The path of ncu. Throws UserError (missing) where $PATH has none.
std::string find_ncu();
// Measures the first `launches` kernel launches of a command, which runs steps as single launches ($HEDDLE_CUDA_STEPS).
// Returns, by kernel symbol, the medians over a kernel's launches. Throws UserError with ncu's message where ncu fails.
std::map<std::string, Counters> ncu_counters(const std::vector<std::string>& command, int64_t launches);
// Parses the output of ncu with --csv --page raw --print-units base. Throws UserError where it has another form.
std::map<std::string, Counters> parse_ncu(std::string_view csv);

}  // namespace heddle::driver
