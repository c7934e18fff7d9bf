// Executes one launch of a kernel, thread by thread as a GPU may, and reports what no GPU would.
//
//   Module module = parse(ptx);
//   DeviceMemory memory;
//   Loaded loaded(module, memory);
//   Outcome done = launch(loaded, {.kernel = "add", .grid = {4}, .block = {256}, .parameters = bytes}, memory, {});
//   done.findings -> {{"race on shared memory: ...", line 17, ...}}, done.counters.instructions -> 1234
//
// Blocks of a launch run one after another unless it is cooperative: then all are resident and take turns, so that one
// may wait for another.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/ptx/memory.h"
#include "tests/ptx/module.h"

namespace heddle::ptx {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
};

// Memory that a launch says it reads or writes.
struct Extent {
  uint64_t address = 0, bytes = 0;
  bool written = false;
  bool holds(uint64_t at, uint64_t n) const { return at >= address && n <= bytes && at - address <= bytes - n; }
};

struct Launch {
  std::string kernel;
  Dim3 grid = {}, block = {};
  std::span<const std::byte> parameters = {};  // as the kernel's parameter buffer lies
  uint32_t dynamic_shared = 0;                 // bytes
  bool cooperative = false;
  // Where there are some, all that the launch touches of their allocations. Reading what it may write is no fault.
  std::vector<Extent> touches = {};
};

struct LaunchOptions {
  bool races = true;               // races, shared memory that was not written, data behind ld.global.nc
  bool chains = false;             // counts chains of dependent loads
  uint64_t most_instructions = 0;  // of warps, 0: any number; more is a finding
  size_t most_findings = 50;
};

enum class Check {
  out_of_bounds,
  not_declared,
  misaligned,
  shared_race,
  global_race,
  unwritten_shared,
  unwritten_global,
  read_only_written,
  divergent_barrier,
  exited_at_barrier,
  member_mask,
  deadlock,
  trap,
  too_long,
  bad_launch,
};
const char* to_string(Check check);

struct Finding {
  Check check = Check::out_of_bounds;
  std::string kernel;
  int line = 0;        // of the PTX text
  std::string text;    // the instruction
  std::string detail;  // who and where, of the first time
  uint64_t times = 1;
};
std::string to_string(const Finding& f);

// What a profiler would count.
struct Counters {
  uint64_t instructions = 0, thread_instructions = 0;  // a warp's instruction; each of its lanes that takes part
  uint64_t divergent_branches = 0, barriers = 0, shuffles = 0;
  uint64_t global_loads = 0, global_load_sectors = 0, global_load_bytes = 0;  // requests of warps; 32 bytes each
  uint64_t global_stores = 0, global_store_sectors = 0, global_store_bytes = 0;
  uint64_t global_wavefronts = 0;  // lines of 128 bytes, and at least one for each 128 bytes moved
  uint64_t global_atomics = 0;
  uint64_t shared_loads = 0, shared_load_wavefronts = 0;  // a wavefront: each bank gives one word
  uint64_t shared_stores = 0, shared_store_wavefronts = 0;
  uint64_t shared_ideal_wavefronts = 0;  // if no two words lay in one bank
  // With `chains`: the most loads of global memory of which each needs the one before, of any warp; and the same
  // behind the warp's last arrival (an atomic operation) of each block.
  uint64_t longest_chain = 0, longest_chain_after_arrival = 0;
  // With `chains`: the most loads that a warp waits for one after another, where what a straight
  // piece of instructions reads is there at its end, and a barrier waits for all warps; and how
  // many of these read what other threads may have written: volatile, relaxed and atomic ones.
  uint64_t longest_waits = 0, longest_fresh_waits = 0;

  Counters& operator+=(const Counters& other);
};

struct Outcome {
  bool completed = false;  // otherwise the launch ended at a finding
  std::vector<Finding> findings;
  Counters counters;
};

// A module's global variables in device memory.
class Loaded {
 public:
  Loaded(const Module& module, DeviceMemory& memory);
  ~Loaded();
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  const Module& module() const { return module_; }
  uint64_t address_of(size_t global) const { return addresses_[global]; }

 private:
  const Module& module_;
  DeviceMemory& memory_;
  std::vector<uint64_t> addresses_;
};

Outcome launch(const Loaded& loaded, const Launch& what, DeviceMemory& memory, const LaunchOptions& options);

}  // namespace heddle::ptx
