// What a warp's request costs, as a profiler counts it.
#include <algorithm>

#include "tests/ptx/access.h"
#include "tests/ptx/lanes.h"

namespace heddle::ptx {
namespace {

constexpr uint64_t kSector = 32, kLine = 128, kPerLine = kLine / kSector, kBanks = 32, kWord = 4;

struct Touched {
  uint64_t sectors = 0, lines = 0;
};

// An access is aligned to its size, so that it lies in one sector. Addresses mostly rise from lane to lane: then each
// sector that is not the one before is another one.
Touched touched_by(const Addresses& at, Lanes lanes) {
  std::array<uint64_t, kLanes> sectors{};
  size_t count = 0;
  bool rises = true;
  each_lane(lanes, [&](int l) {
    const uint64_t sector = at[static_cast<size_t>(l)] / kSector;
    if (count > 0 && sectors[count - 1] == sector) return;
    rises = rises && (count == 0 || sectors[count - 1] < sector);
    sectors[count++] = sector;
  });
  if (!rises) {
    std::sort(sectors.begin(), sectors.begin() + static_cast<std::ptrdiff_t>(count));
    count = static_cast<size_t>(std::unique(sectors.begin(), sectors.begin() + static_cast<std::ptrdiff_t>(count)) -
                                sectors.begin());
  }
  Touched t{count, 0};
  for (size_t k = 0; k < count; ++k) t.lines += k == 0 || sectors[k] / kPerLine != sectors[k - 1] / kPerLine;
  return t;
}

// The most words of one bank. Lanes that want the same word get it together.
uint64_t words_of_bank(const Addresses& at, Lanes lanes, uint32_t bytes) {
  std::array<uint64_t, kLanes * 4> words{};
  size_t count = 0;
  each_lane(lanes, [&](int l) {
    const uint64_t first = at[static_cast<size_t>(l)] / kWord;
    for (uint64_t k = 0; k < std::max<uint64_t>(1, bytes / kWord); ++k) words[count++] = first + k;
  });
  std::sort(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count));
  std::array<uint64_t, kBanks> in_bank{};
  for (size_t k = 0; k < count; ++k)
    if (k == 0 || words[k] != words[k - 1]) ++in_bank[words[k] % kBanks];
  return *std::max_element(in_bank.begin(), in_bank.end());
}

}  // namespace

// 8 bytes a thread are served by half warps, 16 by quarters.
uint64_t shared_wavefronts(const Addresses& at, Lanes lanes, uint32_t bytes, uint64_t& ideal) {
  const uint32_t parts = bytes <= 4 ? 1 : bytes / 4, size = kLanes / parts;
  uint64_t wavefronts = 0;
  for (uint32_t part = 0; part < parts; ++part) {
    const Lanes some = lanes & (parts == 1 ? kAllLanes : ((1U << size) - 1) << (part * size));
    ideal += some != 0 ? 1 : 0;
    if (some != 0) wavefronts += words_of_bank(at, some, bytes);
  }
  return wavefronts;
}

void count_request(Warp& w, Space space, const Addresses& at, Lanes lanes, uint32_t bytes, Touch touch) {
  Counters& c = w.run.counters();
  const bool read = touch == Touch::read;
  if (space == Space::shared) {
    (read ? c.shared_loads : c.shared_stores) += 1;
    (read ? c.shared_load_wavefronts : c.shared_store_wavefronts) +=
        shared_wavefronts(at, lanes, bytes, c.shared_ideal_wavefronts);
    return;
  }
  if (space != Space::global) return;
  const uint64_t moved = static_cast<uint64_t>(std::popcount(lanes)) * bytes;
  (read ? c.global_loads : c.global_stores) += 1;
  (read ? c.global_load_bytes : c.global_store_bytes) += moved;
  const Touched t = touched_by(at, lanes);
  (read ? c.global_load_sectors : c.global_store_sectors) += t.sectors;
  c.global_wavefronts += std::max(t.lines, (moved + kLine - 1) / kLine);
}

}  // namespace heddle::ptx
