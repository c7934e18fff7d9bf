// One thread's access to memory: where it goes, whether it may, and who else is there.
#pragma once
#include <array>

#include "tests/ptx/machine.h"

namespace heddle::ptx {

using Addresses = std::array<uint64_t, kLanes>;

// The address operand slot[position] of each lane.
void addresses_of(Warp& w, const Instruction& i, Lanes lanes, size_t position, Addresses& to);

struct Place {
  Space space = Space::global;  // never generic
  uint64_t offset = 0;          // in the space; a global address
  std::byte* data = nullptr;
  Allocation* allocation = nullptr;  // of global memory
};
// Stops the launch where the bytes are out of bounds or not aligned to `align`.
Place locate(Warp& w, const Instruction& i, int lane, uint64_t address, uint32_t bytes, uint32_t align);

enum class Touch { read, write };
// Notes races and what else is wrong with touching these bytes.
void check_touch(Warp& w, const Instruction& i, int lane, const Place& p, uint32_t bytes, Touch touch, Use use);

Use use_of(const Instruction& i);
// What strong accesses synchronise, before a read-modify-write and behind every strong read and write.
void observe(Warp& w, const Instruction& i, int lane, const Place& p);
void publish(Warp& w, const Instruction& i, int lane, const Place& p, bool exchange);

// Counts a warp's request.
void count_request(Warp& w, Space space, const Addresses& at, Lanes lanes, uint32_t bytes, Touch touch);
// Words that a bank gives one after another for one request to shared memory.
uint64_t shared_wavefronts(const Addresses& at, Lanes lanes, uint32_t bytes, uint64_t& ideal);

}  // namespace heddle::ptx
