#include "tests/ptx/access.h"

#include <fmt/format.h>

#include "tests/ptx/lanes.h"

namespace heddle::ptx {
namespace {

std::string who(const Warp& w, int lane) {
  return fmt::format("thread {} of block {}", w.first + static_cast<uint32_t>(lane), w.block.number);
}

// The space that a generic address lies in.
Space space_of(const Instruction& i, uint64_t address) {
  if (i.space != Space::generic) return i.space;
  if (address - kSharedWindow < kWindowBytes) return Space::shared;
  if (address - kLocalWindow < kWindowBytes) return Space::local;
  return Space::global;
}

[[noreturn]] void out_of_bounds(Warp& w, const Instruction& i, int lane, uint64_t address, const std::string& where) {
  stop(w.block, Check::out_of_bounds, i, fmt::format("{} at {:#x}, {}", who(w, lane), address, where));
}

Place locate_global(Warp& w, const Instruction& i, int lane, uint64_t address, uint32_t bytes) {
  Run& run = w.run;
  if (run.last_allocation == nullptr || !run.last_allocation->holds(address, bytes)) {
    run.last_allocation = run.memory.find(address, bytes);
    if (run.last_allocation == nullptr) out_of_bounds(w, i, lane, address, "outside of every allocation");
  }
  Allocation* a = run.last_allocation;
  return {Space::global, address, a->data + (address - a->address), a};
}

Place locate_local(Warp& w, const Instruction& i, int lane, uint64_t address, uint32_t bytes) {
  const uint64_t size = w.function->local_bytes, base = size * static_cast<uint64_t>(lane);
  uint64_t offset = address;
  if (i.space == Space::generic) offset = address - kLocalWindow - base;
  if (offset > size || bytes > size - offset) out_of_bounds(w, i, lane, offset, fmt::format("of {} local bytes", size));
  return {Space::local, offset, w.local.data() + base + offset, nullptr};
}

Place locate_shared(Warp& w, const Instruction& i, int lane, uint64_t address, uint32_t bytes) {
  const uint64_t offset = i.space == Space::generic ? address - kSharedWindow : address;
  const uint64_t size = w.block.shared.size();
  if (offset > size || bytes > size - offset)
    out_of_bounds(w, i, lane, offset, fmt::format("of {} shared bytes", size));
  return {Space::shared, offset, w.block.shared.data() + offset, nullptr};
}

void check_written(Warp& w, const Instruction& i, int lane, const Place& p, uint32_t bytes, Touch touch) {
  if (p.allocation == nullptr || p.allocation->written.empty()) return;
  uint8_t* flags = p.allocation->written.data() + (p.offset - p.allocation->address);
  if (touch == Touch::write) {
    std::memset(flags, 1, bytes);
  } else if (std::memchr(flags, 0, bytes) != nullptr) {
    note(w.block, Check::unwritten_global, i,
         fmt::format("{} reads {:#x}, which nobody has written", who(w, lane), p.offset));
  }
}

void check_declared(Warp& w, const Instruction& i, int lane, const Place& p, uint32_t bytes, Touch touch) {
  Run& run = w.run;
  const auto allows = [&](const Extent& e) { return e.holds(p.offset, bytes) && (touch == Touch::read || e.written); };
  if (run.what.touches.empty() || (run.last_extent != nullptr && allows(*run.last_extent))) return;
  bool known = false;  // the allocation holds something that the launch names
  for (const Extent& e : run.what.touches) {
    if (allows(e)) {
      run.last_extent = &e;
      return;
    }
    known = known || p.allocation->holds(e.address, 1);
  }
  if (known)
    note(w.block, Check::not_declared, i,
         fmt::format("{} {} {:#x}", who(w, lane), touch == Touch::read ? "reads" : "writes", p.offset));
}

Check check_of(Conflict conflict, bool shared) {
  if (conflict == Conflict::unwritten) return Check::unwritten_shared;
  return shared ? Check::shared_race : Check::global_race;
}

}  // namespace

void addresses_of(Warp& w, const Instruction& i, Lanes lanes, size_t position, Addresses& to) {
  const std::byte* from = w.at(i.slot[position]);
  const bool wide = (i.wide >> position & 1U) != 0;
  each_lane(lanes, [&](int l) {
    const uint64_t a = get_any(from, l, wide) + static_cast<uint64_t>(i.offset);
    to[static_cast<size_t>(l)] = wide ? a : static_cast<uint32_t>(a);
  });
}

Place locate(Warp& w, const Instruction& i, int lane, uint64_t address, uint32_t bytes, uint32_t align) {
  if (address % align != 0)
    stop(w.block, Check::misaligned, i,
         fmt::format("{} at {:#x}, which is no multiple of {}", who(w, lane), address, align));
  switch (space_of(i, address)) {
    case Space::shared: return locate_shared(w, i, lane, address, bytes);
    case Space::local: return locate_local(w, i, lane, address, bytes);
    default: return locate_global(w, i, lane, address, bytes);
  }
}

Use use_of(const Instruction& i) {
  if (i.order == Order::weak) return Use::weak;
  return i.scope == Scope::cta ? Use::strong_cta : Use::strong_gpu;
}

void check_touch(Warp& w, const Instruction& i, int lane, const Place& p, uint32_t bytes, Touch touch, Use use) {
  check_written(w, i, lane, p, bytes, touch);
  if (p.space == Space::global) check_declared(w, i, lane, p, bytes, touch);
  if (!w.depth.empty() && p.space == Space::global) follow_global(w, i, p.offset, touch == Touch::write);
  BlockRaces* block = w.block.races.get();
  if (block == nullptr || p.space == Space::local) return;
  const bool shared = p.space == Space::shared;
  Shadow& shadow = shared ? block->shared : w.run.races->shadow_of(*p.allocation);
  ReaderSets& sets = shared ? block->sets : w.run.races->sets();
  const uint64_t at = shared ? p.offset : p.offset - p.allocation->address;
  const uint32_t thread = w.first + static_cast<uint32_t>(lane);
  const Judgement j = touch == Touch::read ? shadow.read(at, bytes, thread, use, block->order, sets)
                                           : shadow.write(at, bytes, thread, use, block->order, sets);
  const char* verb = touch == Touch::read ? "reads" : "writes";
  if (j.conflict != Conflict::none)
    note(w.block, check_of(j.conflict, shared), i,
         fmt::format("{} {} {:#x}: {}", who(w, lane), verb, p.offset, describe(j)));
  if (i.read_only && j.written)
    note(w.block, Check::read_only_written, i,
         fmt::format("{} reads {:#x}, written in this launch", who(w, lane), p.offset));
}

void observe(Warp& w, const Instruction& i, int lane, const Place& p) {
  if (i.order == Order::weak || w.block.races == nullptr || p.space == Space::local) return;
  const PublishedAt& all = p.space == Space::shared ? w.block.races->published : w.run.races->published();
  const auto it = all.find(p.offset);
  if (it == all.end()) return;
  w.block.races->order.observe(w.first + static_cast<uint32_t>(lane), i.order, i.scope, it->second);
}

void publish(Warp& w, const Instruction& i, int lane, const Place& p, bool exchange) {
  if (i.order == Order::weak || w.block.races == nullptr || p.space == Space::local) return;
  PublishedAt& all = p.space == Space::shared ? w.block.races->published : w.run.races->published();
  w.block.races->order.publish(w.first + static_cast<uint32_t>(lane), i.order, i.scope, exchange, all[p.offset]);
}

}  // namespace heddle::ptx
