// Target: the figures of a device for which kernels are planned. They are constants, never queried from a driver, so
// plans do not depend on the machine that compiles.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::ir {

struct Target {
  std::string name;  // "host", "a100", "h100", "h200"
  bool gpu = false;
  std::string arch;  // "sm_90a"; "native" on the host
  // For generated text:
  int64_t max_threads = 1;   // of a block; 1: a block is one thread, whose loops the compiler vectorises
  int64_t warp = 1;          // threads that run together
  int64_t vector_bytes = 1;  // widest load of a thread; 1: the compiler chooses
  int64_t kept_packets = 4;  // most packets of a row that a thread keeps
  int64_t kept_sums = 32;    // most running sums of columns that it keeps (in registers, or a first-level cache)
  int64_t shared_bytes = 0;  // most shared memory of a block's tiles
  // The number of multiprocessors. On the host, blocks with partial results: enough for any number of cores.
  int64_t sm_count = 1;
  int64_t index_limit = int64_t{1} << 31;  // indices below it are 32 bits wide; tests lower it
  double bandwidth = 1;                    // bytes per second, memory
  double cache_bandwidth = 1;              // bytes per second, last-level cache
  int64_t cache_bytes = 0;                 // of the last-level cache
  int64_t memory_bytes = 0;                // for a program's states and arena
  double flops = 1;                        // per second, f32, generated kernels
  double matrix_flops = 1;                 // per second, library matrix products in f32
  double launch = 0;                       // seconds per launch
  // For tiled products, on a GPU:
  double fma_flops = 0;         // per second, f32, with fma instructions only
  double tensor_flops = 0;      // per second, 16-bit operands with f32 sums, without sparsity; TF32 has half of it
  double latency = 0;           // seconds until the last-level cache answers a load
  double grid_barrier = 0;      // seconds of a barrier of all blocks of a grid
  int64_t sm_shared_bytes = 0;  // shared memory of a multiprocessor, for all its blocks
  int64_t sm_threads = 0;       // most threads on a multiprocessor
  int64_t sm_registers = 0;     // 32-bit registers of a multiprocessor
  // Rates of a multiprocessor, per second, and its first-level cache:
  double sm_instructions = 0;      // warp instructions that its schedulers issue
  double sm_f32_instructions = 0;  // warp instructions that compute f32
  double sm_wavefronts = 0;        // wavefronts of shared memory
  double sm_l1_bandwidth = 0;      // bytes from the first-level cache
  int64_t l1_bytes = 0;            // size of that cache
  double l1_latency = 0;           // seconds until it answers a load
};

Target host();  // two AVX-512 cores
Target a100();  // figures of GPUs: docs/design.md, "Targets"
Target h100();
Target h200();
std::vector<std::string> target_names();
Target target_by_name(const std::string& name);  // throws InferError

}  // namespace heddle::ir
