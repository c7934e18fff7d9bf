// The state of a launch while it runs: blocks, warps, and groups of lanes that are at one instruction.
#pragma once
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "tests/ptx/launch.h"
#include "tests/ptx/races.h"

namespace heddle::ptx {

struct Block;

// Ends the launch; its finding has been noted.
struct Stop {};

// All of one launch.
struct Run {
  const Module& module;
  const Loaded& loaded;
  const Launch& what;
  const LaunchOptions& options;
  DeviceMemory& memory;
  Outcome outcome;
  std::unique_ptr<GlobalRaces> races;                              // nullptr: not looked for
  Allocation* last_allocation = nullptr;                           // the one that served the last access
  const Extent* last_extent = nullptr;                             // and what the launch says of it
  std::map<std::pair<Check, const void*>, size_t> known_findings;  // one per instruction and check
  std::unordered_map<uint64_t, uint64_t> written_depth = {};       // by word: loads that what lies there needed

  Counters& counters() { return outcome.counters; }
};

// Lanes that are at one instruction.
struct Group {
  uint32_t pc = 0;
  Lanes lanes = 0;
};

// A copy that cp.async has begun; the bytes arrive where the thread waits for them.
struct AsyncCopy {
  uint32_t thread = 0, to = 0;  // in shared memory
  uint64_t from = 0;
  uint32_t bytes = 0, zeros = 0;  // the last `zeros` of the bytes are zero
  int64_t group = -1;             // of the thread, -1: not committed
};

// Loads of global memory that a warp has waited for, one after another; of these, what other threads may have written.
struct Waits {
  uint64_t all = 0, fresh = 0;
  void merge(const Waits& other) {
    all = std::max(all, other.all);
    fresh = std::max(fresh, other.fresh);
  }
};

struct Warp {
  // With these lanes at the function's first instruction.
  Warp(Block& of_block, const Function& f, uint32_t first_thread, Lanes lanes);

  Run& run;
  Block& block;
  const Function* function;
  uint32_t first;                // thread of lane 0
  std::vector<uint64_t> file;    // registers
  std::vector<std::byte> local;  // of lane 0, lane 1, ...
  Lanes alive;
  std::vector<Group> ready;   // by pc, the lowest last
  std::vector<Group> parked;  // at a collective that waits for others
  std::vector<Group> at_barrier;
  std::vector<uint64_t> depth;  // by register: loads that its value needed; empty: not counted
  uint64_t control_depth = 0;   // loads that the way here depended on
  uint64_t loaded_depth = 0;    // loads that what the instruction reads of global memory needed
  std::vector<Waits> waits;     // by register: until its value is there
  Waits begun, used;            // until this straight piece of instructions; until what it has read was there

  std::byte* at(uint32_t slot) { return reinterpret_cast<std::byte*>(file.data()) + slot; }
  Lanes predicate(uint32_t slot) {
    Lanes lanes = 0;
    std::memcpy(&lanes, at(slot), sizeof lanes);
    return lanes;
  }
  void set_predicate(uint32_t slot, Lanes lanes, Lanes value) {
    const Lanes merged = (predicate(slot) & ~lanes) | (value & lanes);
    std::memcpy(at(slot), &merged, sizeof merged);
  }
};

struct Block {
  // With its threads at the kernel's first instruction.
  Block(Run& of_run, const Function& kernel, uint32_t block_number);

  Run& run;
  uint32_t number;  // x fastest
  Dim3 index;
  uint32_t threads;
  std::vector<std::byte> shared;
  std::vector<std::unique_ptr<Warp>> warps;
  std::unique_ptr<BlockRaces> races;
  uint32_t arrived = 0, alive;           // threads
  const Instruction* barrier = nullptr;  // one that the arrived wait at
  std::vector<AsyncCopy> copies;
  std::vector<int64_t> async_groups;  // by thread: committed so far
  uint64_t shared_depth = 0;          // loads that what lies in shared memory needed
  uint64_t arrival_depth = 0;         // loads before the last atomic operation
  Waits arriving, together;           // of the warps at a barrier; until the last barrier
};

// Notes what is wrong at an instruction. `thread` of the block, or the block alone.
void note(Block& block, Check check, const Instruction& i, const std::string& detail);
[[noreturn]] void stop(Block& block, Check check, const Instruction& i, const std::string& detail);

// Runs each warp until it waits or has used its turn (instructions; 0: any number). Whether anything moved.
bool take_turn(Block& block, uint64_t turn);
// Runs the warp until it waits. Returns whether it moved.
bool run_warp(Warp& warp, uint64_t turn);
// Runs a function in these lanes, to its end.
void call_function(Warp& caller, const Instruction& i, Lanes lanes);
// Adds lanes to those that are ready at pc.
void add_ready(std::vector<Group>& groups, uint32_t pc, Lanes lanes);
// Lanes come to a collective and go on when all that they name have come.
void meet(Warp& warp, uint32_t pc, Lanes lanes);
// Lanes come to a barrier of the block; the last ones let all go on.
void arrive(Warp& warp, uint32_t pc, Lanes lanes);
void complete_barrier(Block& block);

// How many loads the result of the instruction needed, for `LaunchOptions::chains`.
void follow_chain(Warp& warp, const Instruction& i);
// Before that: an address that it reads or writes.
void follow_global(Warp& warp, const Instruction& i, uint64_t address, bool write);
void follow_waits(Warp& warp, const Instruction& i);

}  // namespace heddle::ptx
