// cp.async: the bytes arrive where the thread waits for them, not before, so that what reads too
// early reads the old ones.
#include <algorithm>

#include "tests/ptx/access.h"
#include "tests/ptx/decoding.h"
#include "tests/ptx/lanes.h"

namespace heddle::ptx {
namespace {

enum class Wait : uint32_t { group, all };

// slot: shared address, global address, source size or none. `size`: bytes; `target`: offset of the shared address.
void execute_copy(Warp& w, const Instruction& i, Lanes lanes) {
  Instruction shared = i, global = i;
  shared.space = Space::shared;
  shared.offset = static_cast<int32_t>(i.target);
  global.space = Space::global;
  Addresses to, from;
  addresses_of(w, shared, lanes, 0, to);
  addresses_of(w, global, lanes, 1, from);
  Lanes reading = 0;  // where all is zeros, nothing is read
  each_lane(lanes, [&](int l) {
    const auto k = static_cast<size_t>(l);
    const uint32_t given = i.slot[2] == kNoSlot ? i.size : get<uint32_t>(w.at(i.slot[2]), l);
    const uint32_t bytes = std::min<uint32_t>(given, i.size);
    const Place p = locate(w, shared, l, to[k], i.size, i.size);
    check_touch(w, i, l, p, i.size, Touch::write, Use::in_flight);
    reading |= bytes > 0 ? 1U << l : 0;
    if (bytes > 0) check_touch(w, i, l, locate(w, global, l, from[k], bytes, i.size), bytes, Touch::read, Use::weak);
    w.block.copies.push_back(
        {w.first + static_cast<uint32_t>(l), static_cast<uint32_t>(p.offset), from[k], i.size, i.size - bytes, -1});
  });
  if (reading != 0) count_request(w, Space::global, from, reading, i.size, Touch::read);
  count_request(w, Space::shared, to, lanes, i.size, Touch::write);
}

void execute_commit(Warp& w, const Instruction&, Lanes lanes) {
  each_lane(lanes, [&](int l) {
    const uint32_t thread = w.first + static_cast<uint32_t>(l);
    int64_t& groups = w.block.async_groups[thread];
    for (AsyncCopy& c : w.block.copies)
      if (c.thread == thread && c.group < 0) c.group = groups;
    ++groups;
  });
}

void land(Warp& w, const AsyncCopy& c) {
  std::byte* to = w.block.shared.data() + c.to;
  const uint32_t bytes = c.bytes - c.zeros;
  if (bytes > 0) w.run.memory.read(to, c.from, bytes);
  std::memset(to + bytes, 0, c.zeros);
  if (w.block.races != nullptr) w.block.races->shared.land(c.to, c.bytes, c.thread, w.block.races->order);
}

// wait_group n: all but the thread's last n groups; wait_all: also what was not committed.
void execute_wait(Warp& w, const Instruction& i, Lanes lanes) {
  auto& copies = w.block.copies;
  const bool all = (i.mode & 1U) == static_cast<uint32_t>(Wait::all);
  const auto ready = [&](const AsyncCopy& c) {
    if (c.thread < w.first || c.thread >= w.first + kLanes || (lanes >> (c.thread - w.first) & 1U) == 0) return false;
    return all || (c.group >= 0 && c.group < w.block.async_groups[c.thread] - static_cast<int64_t>(i.mode >> 1));
  };
  for (const AsyncCopy& c : copies)
    if (ready(c)) land(w, c);
  copies.erase(std::remove_if(copies.begin(), copies.end(), ready), copies.end());
}

void decode_copy(Decoding& d) {
  const bool cached = d.take_one_of({"ca", "cg"}) == 0;
  if (!d.take("shared") && !d.take("shared::cta")) d.refuse("only copies to shared memory are executed");
  if (!d.take("global")) d.refuse("only copies from global memory are executed");
  d.take_one_of({"L2::64B", "L2::128B", "L2::256B"});
  d.out.space = Space::shared;
  d.address(d.operand(0), 0);
  d.out.target = static_cast<uint32_t>(static_cast<int32_t>(d.out.offset));
  d.out.offset = 0;
  d.address(d.operand(1), 1);
  d.out.size = static_cast<uint8_t>(d.number(d.operand(2)));
  const bool legal = d.out.size == 16 || (cached && (d.out.size == 4 || d.out.size == 8));
  if (!legal) d.refuse("16 bytes are expected, with .ca also 4 or 8");
  d.out.slot[2] = d.operands() > 3 ? d.source(d.operand(3), Type::u32) : kNoSlot;
  d.out.execute = execute_copy;
}

}  // namespace

bool decode_async(Decoding& d) {
  if (d.root() != "cp") return false;
  if (!d.take("async")) d.refuse("only cp.async is executed");
  if (d.take("commit_group")) {
    d.out.execute = execute_commit;
  } else if (d.take("wait_all")) {
    d.out.mode = static_cast<uint32_t>(Wait::all);
    d.out.execute = execute_wait;
  } else if (d.take("wait_group")) {
    d.out.mode = static_cast<uint32_t>(d.number(d.operand(0))) << 1;
    d.out.execute = execute_wait;
  } else {
    decode_copy(d);
  }
  return true;
}

}  // namespace heddle::ptx
