#include "ir/kernel/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
          .vector_bytes = 1,
          .kept_packets = 4096,
          .kept_sums = 8192,
          .shared_bytes = int64_t{48} << 10,
          .sm_count = 64,
          .bandwidth = 35e9,
          .cache_bandwidth = 48e9,
          .cache_bytes = int64_t{32} << 20,
          .memory_bytes = int64_t{64} << 30,
          .flops = 1e11,
          .matrix_flops = 2e11,
          .launch = 2e-6};
}

namespace {

// What all GPUs have in common: generated text may declare 48 KB of shared memory; a kernel inside a captured step
// costs 1.3 us. An answer of the last-level cache takes 270 to 300 cycles. Registers and threads of a multiprocessor:
// CUDA C++ programming guide, table of compute capabilities (8.0 and 9.0). Blocks of a grid meet by an addition and a
// load in the last-level cache, on average another load until the last one has come, and two barriers of the block:
// about four times the latency.
Target gpu() {
  Target t;
  t.gpu = true;
  t.max_threads = 1024, t.warp = 32;
  t.vector_bytes = 16, t.kept_packets = 4, t.kept_sums = 32;
  t.shared_bytes = int64_t{48} << 10;
  t.launch = 1.3e-6, t.latency = 2e-7;
  t.grid_barrier = 8e-7;
  t.sm_threads = 2048, t.sm_registers = 65536;
  return t;
}

// What a multiprocessor does in a cycle, from the whitepapers of both architectures: four schedulers issue an
// instruction of a warp each; `fma` warps of f32 start, a lane for each of its 64 (A100) or 128 (H100) units; shared
// memory gives 32 banks of 4 bytes; its cache gives a line of 128 bytes, as Luo et al. 2024 measure ("Benchmarking and
// Dissecting the Nvidia Hopper GPU Architecture", arXiv 2402.13499: 99.5 and 125.8 bytes). They find 38 and 41 cycles
// until it answers, 261 and 263 until the last-level cache does; `latency` is what a busy one takes.
void set_processor(Target& t, double clock, double fma, int64_t near_cache) {
  constexpr double kSchedulers = 4, kLine = 128, kNearCycles = 40;
  t.sm_instructions = kSchedulers * clock, t.sm_f32_instructions = fma * clock;
  t.sm_wavefronts = clock;
  t.sm_l1_bandwidth = kLine * clock, t.l1_bytes = near_cache;
  t.l1_latency = kNearCycles / clock;
}

}  // namespace

// A100 SXM 80 GB: NVIDIA A100 data sheet (19.5 TFLOP/s f32, 312 bf16, 2,039 GB/s) and architecture
// whitepaper (108 multiprocessors at 1.41 GHz, 40 MB of last-level cache; of each 192 KB
// first-level cache, 164 KB of it shared memory). Copies reach nine tenths of the bandwidth;
// elementwise chains without contraction about 0.45, library products 0.75 of the peak, as
// estimated for the H200.
Target a100() {
  Target t = gpu();
  t.name = "a100", t.arch = "sm_80";
  t.sm_count = 108;
  t.bandwidth = 1.83e12, t.cache_bandwidth = 4e12, t.cache_bytes = int64_t{40} << 20;
  t.memory_bytes = 80'000'000'000;
  t.flops = 8.7e12, t.matrix_flops = 1.46e13, t.fma_flops = 1.95e13, t.tensor_flops = 3.12e14;
  t.sm_shared_bytes = int64_t{164} << 10;
  set_processor(t, /*clock=*/1.41e9, /*fma=*/2, int64_t{192} << 10);
  return t;
}

// H100 SXM: NVIDIA H100 data sheet (67 TFLOP/s f32, 989 bf16, 3.35 TB/s) and architecture whitepaper (132
// multiprocessors, whose 128 units each reach that at 1.98 GHz; 50 MB of last-level cache; of each 256 KB first-level
// cache, 228 KB of it shared memory).
Target h100() {
  Target t = h200();
  t.name = "h100";
  t.bandwidth = 3e12, t.cache_bytes = int64_t{50} << 20;
  t.memory_bytes = 80'000'000'000;
  return t;
}

// H200: its data sheet (67 TFLOP/s f32, 989 bf16, 4.8 TB/s); the chip is the H100's. Copies reach 4.3 TB/s. Matrix
// products in f32 without TF32 run on the ordinary units.
Target h200() {
  Target t = gpu();
  t.name = "h200", t.arch = "sm_90a";
  t.sm_count = 132;
  t.bandwidth = 4.3e12, t.cache_bandwidth = 7e12, t.cache_bytes = int64_t{60} << 20;
  t.memory_bytes = 141'000'000'000;
  t.flops = 3e13, t.matrix_flops = 5e13, t.fma_flops = 6.7e13, t.tensor_flops = 9.89e14;
  t.sm_shared_bytes = int64_t{228} << 10;
  set_processor(t, /*clock=*/1.98e9, /*fma=*/4, int64_t{256} << 10);
  return t;
}

namespace {
std::vector<Target> targets() { return {host(), a100(), h100(), h200()}; }
}  // namespace

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const Target& target : targets()) names.push_back(target.name);
  return names;
}

Target target_by_name(const std::string& name) {
  for (const Target& target : targets())
    if (target.name == name) return target;
  throw InferError(fmt::format("unknown target '{}', expected {}", name, fmt::join(target_names(), " or ")));
}

}  // namespace heddle::ir
