// Chains of loads of global memory: how many lie one behind another on the way to a register, through registers,
// branches, shared memory, and global memory that the launch has written. A warp is followed as a whole.
#include <algorithm>
#include <utility>

#include "tests/ptx/machine.h"

namespace heddle::ptx {
namespace {

uint64_t operands_depth(const Warp& w, const Instruction& i) {
  uint64_t depth = w.control_depth;
  if (i.guard != kNoSlot) depth = std::max(depth, w.depth[i.guard / 8]);
  for (const uint32_t slot : i.reads) depth = std::max(depth, w.depth[slot / 8]);
  return depth;
}

}  // namespace

void follow_global(Warp& w, const Instruction& i, uint64_t address, bool write) {
  constexpr uint64_t kWord = 4;
  if (write)
    w.run.written_depth[address / kWord] = operands_depth(w, i);
  else if (const auto it = w.run.written_depth.find(address / kWord); it != w.run.written_depth.end())
    w.loaded_depth = std::max(w.loaded_depth, it->second);
}

void follow_chain(Warp& w, const Instruction& i) {
  const auto at = [&](uint32_t slot) -> uint64_t& { return w.depth[slot / 8]; };
  if ((i.kind == Kind::branch || i.kind == Kind::exit) && i.guard != kNoSlot)
    w.control_depth = std::max(w.control_depth, at(i.guard));
  uint64_t depth = std::max(operands_depth(w, i), std::exchange(w.loaded_depth, 0));
  if (i.size == 0) {  // moves no memory
    for (const uint32_t slot : i.writes) at(slot) = depth;
    return;
  }
  Block& block = w.block;
  const bool load = !i.writes.empty(), global = i.space == Space::global || i.space == Space::generic;
  if (i.space == Space::shared) {
    if (load)
      depth = std::max(depth, block.shared_depth);
    else
      block.shared_depth = std::max(block.shared_depth, depth);
  }
  if (load && global) {
    ++depth;
    Counters& c = w.run.counters();
    c.longest_chain = std::max(c.longest_chain, depth);
    if (i.order != Order::weak && i.members == kNoSlot && i.text.find("atom") != std::string::npos)
      block.arrival_depth = depth;
    else if (block.arrival_depth > 0 && depth > block.arrival_depth)
      c.longest_chain_after_arrival = std::max(c.longest_chain_after_arrival, depth - block.arrival_depth);
  }
  for (const uint32_t slot : i.writes) at(slot) = depth;
}

}  // namespace heddle::ptx
