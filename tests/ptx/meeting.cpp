// Where lanes wait for one another: collectives of a warp, barriers of a block.
#include <fmt/format.h>

#include <algorithm>

#include "tests/ptx/lanes.h"
#include "tests/ptx/machine.h"

namespace heddle::ptx {
namespace {

// Who must come for the lane to go on. Lanes that have ended will not.
Lanes members_of(Warp& w, const Instruction& i, int lane) {
  if (i.members == kNoSlot) return w.alive;
  const auto named = get<Lanes>(w.at(i.members), lane);
  if ((named >> lane & 1U) == 0)
    note(w.block, Check::member_mask, i, fmt::format("lane {} is not in its own mask {:#x}", lane, named));
  if ((named & ~w.alive) != 0)
    note(w.block, Check::member_mask, i,
         fmt::format("the mask {:#x} names lanes that have ended or do not exist", named));
  return (named & w.alive) | 1U << lane;
}

}  // namespace

void meet(Warp& w, uint32_t pc, Lanes lanes) {
  const Instruction& i = w.function->code[pc];
  add_ready(w.parked, pc, lanes);
  const auto group = std::find_if(w.parked.begin(), w.parked.end(), [&](const Group& g) { return g.pc == pc; });
  Lanes rest = group->lanes, done = 0;
  while (rest != 0) {
    const int lane = std::countr_zero(rest);
    const Lanes members = members_of(w, i, lane);
    if ((members & ~group->lanes) != 0) {
      rest &= rest - 1;
      continue;
    }
    i.execute(w, i, members);
    rest &= ~members;
    done |= members;
  }
  group->lanes &= ~done;
  if (group->lanes == 0) w.parked.erase(group);
  if (done != 0) add_ready(w.ready, i.next, done);
}

void arrive(Warp& w, uint32_t pc, Lanes lanes) {
  Block& block = w.block;
  const Instruction& i = w.function->code[pc];
  if (i.aligned && lanes != w.alive)
    note(block, Check::divergent_barrier, i,
         fmt::format("lanes {:#x} of {:#x} of warp {} of block {} come", lanes, w.alive, w.first / kLanes,
                     block.number));
  if (block.alive != block.threads)
    note(block, Check::exited_at_barrier, i,
         fmt::format("{} of {} threads have ended", block.threads - block.alive, block.threads));
  if (block.arrived > 0 && block.barrier->mode != i.mode)
    stop(block, Check::deadlock, i, "other threads wait at another barrier");
  block.barrier = &i;
  add_ready(w.at_barrier, pc, lanes);
  block.arrived += static_cast<uint32_t>(std::popcount(lanes));
  if (block.arrived == block.alive) complete_barrier(block);
}

void complete_barrier(Block& block) {
  block.arrived = 0;
  ++block.run.counters().barriers;
  block.together = block.arriving;
  std::vector<bool> alive(block.threads);
  for (const auto& w : block.warps)
    each_lane(w->alive, [&](int l) { alive[w->first + static_cast<size_t>(l)] = true; });
  if (block.races != nullptr) block.races->order.barrier(alive);
  if (block.barrier->execute != nullptr)  // bar.red
    for (const auto& w : block.warps) block.barrier->execute(*w, *block.barrier, w->alive);
  for (const auto& w : block.warps) {
    for (const Group& g : w->at_barrier) add_ready(w->ready, w->function->code[g.pc].next, g.lanes);
    w->at_barrier.clear();
  }
}

}  // namespace heddle::ptx
