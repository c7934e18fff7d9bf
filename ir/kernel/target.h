// Target: what the compiler knows about a device, as data. Never queried from a driver, so plans do not depend on the
// machine they are made on.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::ir {

struct Target {
  std::string name;  // "host", "h200"
  bool gpu = false;
  std::string arch;            // "sm_90a"; "native" on the host
  int64_t processors = 1;      // multiprocessors, or cores
  int64_t packet_bytes = 16;   // widest load of a thread
  int64_t shared_bytes = 0;    // shared memory a block may use in generated text
  int64_t max_threads = 1;     // of a block
  double bandwidth = 1;        // bytes per second, memory
  double cache_bandwidth = 1;  // bytes per second, last-level cache
  int64_t cache_bytes = 0;
  double flops = 1;         // per second, f32, generated kernels
  double matrix_flops = 1;  // per second, library matrix products in f32
  double launch = 0;        // seconds per launch
};

Target host();  // two AVX-512 cores
Target h200();  // figures: docs/design.md, "Targets"
std::vector<std::string> target_names();
Target target_by_name(const std::string& name);  // throws InferError

}  // namespace heddle::ir
