// Target: what the compiler knows about a device, as data. Never queried from a driver, so plans do not depend on the
// machine they are made on.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::ir {

struct Target {
  std::string name;  // "host", "a100", "h100", "h200"
  bool gpu = false;
  std::string arch;  // "sm_90a"; "native" on the host
  // Of generated text:
  int64_t max_threads = 1;   // of a block; 1: a block is one thread, whose loops the compiler vectorises
  int64_t warp = 1;          // threads that run together
  int64_t vector_bytes = 1;  // widest load of a thread; 1: the compiler chooses
  int64_t kept_packets = 4;  // that a thread keeps of a row, and
  int64_t kept_sums = 32;    // running sums that it keeps of columns: what registers hold, or a first-level cache
  int64_t shared_bytes = 0;  // that a block's tiles may take
  // Whose partial results are added up: one for each multiprocessor, or enough for any number of cores.
  int64_t sm_count = 1;
  int64_t index_limit = int64_t{1} << 31;  // indices below it are 32 bits wide; tests lower it
  double bandwidth = 1;                    // bytes per second, memory
  double cache_bandwidth = 1;              // bytes per second, last-level cache
  int64_t cache_bytes = 0;
  int64_t memory_bytes = 0;  // that a program's states and arena may take
  double flops = 1;          // per second, f32, generated kernels
  double matrix_flops = 1;   // per second, library matrix products in f32
  double launch = 0;         // seconds per launch
  // Of products through tiles, where there is a GPU:
  double fma_flops = 0;         // per second, f32, of fma alone
  double tensor_flops = 0;      // per second, 16-bit operands summed up in f32, without sparsity; TF32: half
  double latency = 0;           // seconds until what is asked of the last-level cache is there
  double grid_barrier = 0;      // seconds until all blocks of a grid have met
  int64_t sm_shared_bytes = 0;  // bytes of shared memory of a multiprocessor, for all its blocks
  int64_t sm_threads = 0;       // that a multiprocessor holds
  int64_t sm_registers = 0;     // of 32 bits, that it has
  // Of a multiprocessor, each second:
  double sm_instructions = 0;      // of warps, that its schedulers issue
  double sm_f32_instructions = 0;  // of these, how many compute f32
  double sm_wavefronts = 0;        // of shared memory
  double sm_l1_bandwidth = 0;      // that its own cache answers
  int64_t l1_bytes = 0;            // of that cache
  double l1_latency = 0;           // seconds until it answers
};

Target host();  // two AVX-512 cores
Target a100();  // figures of GPUs: docs/design.md, "Targets"
Target h100();
Target h200();
std::vector<std::string> target_names();
Target target_by_name(const std::string& name);  // throws InferError

}  // namespace heddle::ir
