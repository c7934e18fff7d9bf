#include "ir/kernel/target.h"

#include <fmt/format.h>

#include "ir/op_def.h"

namespace heddle::ir {

// Two cores with 512-bit vectors, measured with both busy: copies of 256 MB move 35 GB/s, copies that stay in cache 48
// GB/s. A library product reaches about half of the cores' peak, an elementwise chain without contraction a quarter.
Target host() {
  return {.name = "host",
          .gpu = false,
          .arch = "native",
          .max_threads = 1,
          .warp = 1,
          .packet_bytes = 1,
          .kept_packets = 4096,
          .kept_sums = 8192,
          .shared_bytes = int64_t{48} << 10,
          .most_blocks = 64,
          .bandwidth = 35e9,
          .cache_bandwidth = 48e9,
          .cache_bytes = int64_t{32} << 20,
          .memory_bytes = int64_t{64} << 30,
          .flops = 1e11,
          .matrix_flops = 2e11,
          .launch = 2e-6};
}

// Copies reach 4.3 TB/s; generated text may declare 48 KB of shared memory; a kernel inside a captured step costs 1.3
// us. Matrix products in f32 without TF32 run on the ordinary units.
Target h200() {
  return {.name = "h200",
          .gpu = true,
          .arch = "sm_90a",
          .max_threads = 1024,
          .warp = 32,
          .packet_bytes = 16,
          .kept_packets = 4,
          .kept_sums = 32,
          .shared_bytes = int64_t{48} << 10,
          .most_blocks = 132,
          .bandwidth = 4.3e12,
          .cache_bandwidth = 7e12,
          .cache_bytes = int64_t{60} << 20,
          .memory_bytes = 141'000'000'000,
          .flops = 3e13,
          .matrix_flops = 5e13,
          .launch = 1.3e-6};
}

std::vector<std::string> target_names() { return {host().name, h200().name}; }

Target target_by_name(const std::string& name) {
  for (const Target& target : {host(), h200()})
    if (target.name == name) return target;
  throw InferError(fmt::format("unknown target '{}', expected {}", name, fmt::join(target_names(), " or ")));
}

}  // namespace heddle::ir
