#include "tests/random/poisoned_device.h"

#include <algorithm>
#include <span>

namespace heddle::testing {
namespace {

constexpr int64_t kMargin = 4096;
constexpr std::byte kMark{0xA7};

std::span<std::byte> margin_before(void* segment) { return {static_cast<std::byte*>(segment) - kMargin, kMargin}; }
std::span<std::byte> margin_after(void* segment, int64_t bytes) {
  return {static_cast<std::byte*>(segment) + bytes, kMargin};
}

bool untouched(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == kMark; });
}

}  // namespace

void* PoisonedDevice::allocate(int64_t bytes, runtime::Memory kind) {
  auto* whole = static_cast<std::byte*>(host_.allocate(bytes + 2 * kMargin, kind));
  void* segment = whole + kMargin;
  std::ranges::fill(margin_before(segment), kMark);
  std::ranges::fill(margin_after(segment, bytes), kMark);
  sizes_[segment] = bytes;
  return segment;
}

void PoisonedDevice::release(void* memory) {
  sizes_.erase(memory);
  host_.release(static_cast<std::byte*>(memory) - kMargin);
}

void PoisonedDevice::load(const codegen::Program& program, const runtime::Segments& segments) {
  arena_ = segments[static_cast<size_t>(codegen::Segment::arena)];
  host_.load(program, segments);
}

void PoisonedDevice::poison_arena(std::byte with) {
  std::fill_n(static_cast<std::byte*>(arena_), sizes_.at(arena_), with);
}

bool PoisonedDevice::marks_intact() const {
  return std::all_of(sizes_.begin(), sizes_.end(), [](const auto& segment) {
    return untouched(margin_before(segment.first)) && untouched(margin_after(segment.first, segment.second));
  });
}

}  // namespace heddle::testing
