// How many loads of global memory a warp waits for, one after another: instructions start in their
// order, so that what a straight piece of them reads has arrived where it ends, and a turn of a
// loop waits for its loads before the next one asks for its own. Loads of one piece that do not
// need one another are under way together.
#include "tests/ptx/machine.h"

namespace heddle::ptx {

void follow_waits(Warp& w, const Instruction& i) {
  Block& block = w.block;
  w.begun.merge(block.together);
  const auto at = [&](uint32_t slot) -> Waits& { return w.waits[slot / 8]; };
  Waits needed;
  if (i.guard != kNoSlot) needed.merge(at(i.guard));
  for (const uint32_t slot : i.reads) needed.merge(at(slot));
  w.used.merge(needed);
  if (i.kind == Kind::branch || i.kind == Kind::barrier || i.kind == Kind::exit) {
    w.begun.merge(w.used);
    if (i.kind == Kind::barrier) block.arriving.merge(w.begun);
    return;
  }
  Waits there = w.begun;
  there.merge(needed);
  const bool global = i.space == Space::global || i.space == Space::generic;
  if (i.size > 0 && global && !i.writes.empty()) {
    there.all += 1;
    if (i.order != Order::weak) there.fresh += 1;
    Counters& c = w.run.counters();
    c.longest_waits = std::max(c.longest_waits, there.all);
    c.longest_fresh_waits = std::max(c.longest_fresh_waits, there.fresh);
  }
  for (const uint32_t slot : i.writes) at(slot) = there;
}

}  // namespace heddle::ptx
