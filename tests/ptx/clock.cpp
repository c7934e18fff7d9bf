#include "tests/ptx/clock.h"

#include <algorithm>

namespace heddle::ptx {

Clock::OfBlock& Clock::of(uint32_t block) {
  const auto it = std::lower_bound(blocks_.begin(), blocks_.end(), block,
                                   [](const OfBlock& b, uint32_t wanted) { return b.block < wanted; });
  if (it != blocks_.end() && it->block == block) return *it;
  OfBlock fresh;
  fresh.block = block;
  return *blocks_.insert(it, std::move(fresh));
}

void Clock::add(uint32_t block, uint32_t time) {
  OfBlock& b = of(block);
  b.all = std::max(b.all, time);
}

void Clock::add(uint32_t block, uint32_t thread, uint32_t time) {
  auto& threads = of(block).threads;
  const auto it = std::lower_bound(threads.begin(), threads.end(), std::pair(thread, 0U));
  if (it != threads.end() && it->first == thread)
    it->second = std::max(it->second, time);
  else
    threads.insert(it, {thread, time});
}

void Clock::merge(const Clock& other) {
  for (const OfBlock& b : other.blocks_) {
    add(b.block, b.all);
    for (const auto& [thread, time] : b.threads) add(b.block, thread, time);
  }
}

bool Clock::covers(Stamp s) const {
  const auto it = std::lower_bound(blocks_.begin(), blocks_.end(), s.block(),
                                   [](const OfBlock& b, uint32_t wanted) { return b.block < wanted; });
  if (it == blocks_.end() || it->block != s.block()) return false;
  if (s.time() < it->all) return true;
  const auto thread = std::lower_bound(it->threads.begin(), it->threads.end(), std::pair(s.thread(), 0U));
  return thread != it->threads.end() && thread->first == s.thread() && s.time() < thread->second;
}

}  // namespace heddle::ptx
