#include "tests/ptx/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace heddle::ptx {
namespace {

constexpr uint64_t kBetween = 1 << 16;  // bytes between allocations, at least

}  // namespace

uint64_t DeviceMemory::allocate(uint64_t bytes) {
  auto a = std::make_unique<Allocation>();
  a->address = next_;
  a->bytes = bytes;
  a->owned = std::make_unique<std::byte[]>(std::max<uint64_t>(bytes, 1));
  a->data = a->owned.get();
  if (follow_writes_) a->written.resize(bytes);
  next_ += (bytes + kAlignment - 1) / kAlignment * kAlignment + kBetween;
  all_.push_back(std::move(a));
  return all_.back()->address;
}

void DeviceMemory::map(void* host, uint64_t bytes) {
  auto a = std::make_unique<Allocation>();
  a->address = reinterpret_cast<uintptr_t>(host);
  a->bytes = bytes;
  a->data = static_cast<std::byte*>(host);
  if (follow_writes_) a->written.resize(bytes, 1);
  const auto after = std::upper_bound(all_.begin(), all_.end(), a->address,
                                      [](uint64_t wanted, const auto& other) { return wanted < other->address; });
  all_.insert(after, std::move(a));
}

void DeviceMemory::release(uint64_t address) {
  const auto it = std::find_if(all_.begin(), all_.end(), [&](const auto& a) { return a->address == address; });
  if (it == all_.end()) throw MemoryError(fmt::format("{:#x} is released, but was not allocated", address));
  all_.erase(it);
}

Allocation* DeviceMemory::find(uint64_t address, uint64_t bytes) {
  const auto after = std::upper_bound(all_.begin(), all_.end(), address,
                                      [](uint64_t wanted, const auto& a) { return wanted < a->address; });
  if (after == all_.begin()) return nullptr;
  Allocation* a = std::prev(after)->get();
  return a->holds(address, bytes) ? a : nullptr;
}

Allocation& DeviceMemory::at(uint64_t address, uint64_t bytes) const {
  for (const auto& a : all_)
    if (a->holds(address, bytes)) return *a;
  throw MemoryError(fmt::format("{} bytes at {:#x} are outside of device memory", bytes, address));
}

void DeviceMemory::write(uint64_t to, const void* from, uint64_t bytes) {
  if (bytes == 0) return;
  Allocation& a = at(to, bytes);
  std::memcpy(a.data + (to - a.address), from, bytes);
  if (follow_writes_) std::memset(a.written.data() + (to - a.address), 1, bytes);
}

void DeviceMemory::read(void* to, uint64_t from, uint64_t bytes) const {
  if (bytes == 0) return;
  const Allocation& a = at(from, bytes);
  std::memcpy(to, a.data + (from - a.address), bytes);
}

void DeviceMemory::fill(uint64_t to, uint8_t value, uint64_t bytes) {
  if (bytes == 0) return;
  Allocation& a = at(to, bytes);
  std::memset(a.data + (to - a.address), value, bytes);
  if (follow_writes_) std::memset(a.written.data() + (to - a.address), 1, bytes);
}

void DeviceMemory::copy(uint64_t to, uint64_t from, uint64_t bytes) {
  if (bytes == 0) return;
  Allocation& target = at(to, bytes);
  const Allocation& source = at(from, bytes);
  std::memmove(target.data + (to - target.address), source.data + (from - source.address), bytes);
  if (follow_writes_)
    std::memmove(target.written.data() + (to - target.address), source.written.data() + (from - source.address), bytes);
}

}  // namespace heddle::ptx
