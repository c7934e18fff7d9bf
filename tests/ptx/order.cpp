#include "tests/ptx/order.h"

#include <algorithm>
#include <limits>

namespace heddle::ptx {

BlockOrder::BlockOrder(uint32_t block, uint32_t threads)
    : block_(block),
      threads_(threads),
      time_((threads + kLanes - 1) / kLanes, 1),
      warp_time_(time_.size(), 0),
      fences_(threads),
      took_pending_(threads) {}

bool BlockOrder::ordered(Stamp before, uint32_t thread) const {
  if (before.block() == block_) {
    if (before.thread() == thread || before.time() < barrier_time_) return true;
    if (before.thread() / kLanes == thread / kLanes && before.thread() != Stamp::kMany) {
      if (before.time() < warp_time_[thread / kLanes]) return true;
      const auto it = lanes_.find(thread / kLanes);
      if (it != lanes_.end() && before.time() < it->second[thread % kLanes][before.thread() % kLanes]) return true;
    }
  }
  if (known_.covers(before)) return true;
  if (took_pending_[thread] && sequential_pending_.covers(before)) return true;
  const auto own = own_.find(thread);
  return own != own_.end() && own->second.covers(before);
}

Clock BlockOrder::known_to(uint32_t thread, uint32_t own_time) const {
  Clock c = known_;
  if (const auto own = own_.find(thread); own != own_.end()) c.merge(own->second);
  if (took_pending_[thread]) c.merge(sequential_pending_);
  c.add(block_, barrier_time_);
  c.add(block_, thread, own_time);
  return c;
}

// What all threads did before their fences passes the barrier with those that are sequentially consistent.
void BlockOrder::carry_fences(const std::vector<bool>& alive) {
  uint32_t all = std::numeric_limits<uint32_t>::max();
  bool any = false;
  for (uint32_t t = 0; t < threads_; ++t) {
    const Fence& f = fences_[t];
    const bool carried = f.time != 0 && f.sequential && f.scope != Scope::cta;
    any = any || carried;
    if (alive[t]) all = std::min(all, carried ? f.time : barrier_time_);
    if (f.time != 0 && !f.sequential) earlier_[t].merge(known_to(t, f.time));
  }
  if (!any) return;
  released_.merge(known_);
  released_.add(block_, all);
  for (uint32_t t = 0; t < threads_; ++t)
    if (fences_[t].sequential && fences_[t].scope != Scope::cta && fences_[t].time > all)
      released_.add(block_, t, fences_[t].time);
}

void BlockOrder::barrier(const std::vector<bool>& alive) {
  carry_fences(alive);
  for (const auto& [thread, clock] : own_) known_.merge(clock);
  own_.clear();
  if (std::find(took_pending_.begin(), took_pending_.end(), true) != took_pending_.end())
    known_.merge(sequential_pending_);
  took_pending_.assign(threads_, false);
  for (const auto& [thread, clock] : pending_) sequential_pending_.merge(clock);
  std::fill(fences_.begin(), fences_.end(), Fence());
  barrier_time_ = *std::max_element(time_.begin(), time_.end()) + 1;
  std::fill(time_.begin(), time_.end(), barrier_time_);
}

void BlockOrder::warp_barrier(uint32_t warp, Lanes lanes) {
  const uint32_t now = ++time_[warp];
  const uint32_t rest = threads_ - warp * kLanes;
  const Lanes whole = rest >= kLanes ? kAllLanes : (1U << rest) - 1;
  if ((lanes & whole) == whole) {
    warp_time_[warp] = now;
    return;
  }
  auto& table = lanes_[warp];
  for (size_t a = 0; a < kLanes; ++a)
    for (size_t b = 0; b < kLanes; ++b)
      if ((lanes >> a & lanes >> b & 1U) != 0) table[a][b] = now;
}

void BlockOrder::fence(uint32_t warp, Lanes lanes, Scope scope, bool sequential) {
  const uint32_t now = ++time_[warp];
  for (uint32_t l = 0; l < kLanes; ++l) {
    if ((lanes >> l & 1U) == 0) continue;
    const uint32_t t = warp * kLanes + l;
    fences_[t] = {now, scope, sequential};
    if (const auto it = pending_.find(t); it != pending_.end()) {
      own_[t].merge(it->second);
      pending_.erase(it);
    }
    if (sequential && !sequential_pending_.empty()) took_pending_[t] = true;
  }
}

Clock BlockOrder::released_by_fences(uint32_t thread, Scope& scope) const {
  Clock c = released_;
  if (const auto it = earlier_.find(thread); it != earlier_.end()) c.merge(it->second);
  const Fence& f = fences_[thread];
  if (f.time == 0) return c;
  if (f.scope == Scope::cta) scope = Scope::cta;
  c.merge(known_to(thread, f.time));
  return c;
}

void BlockOrder::publish(uint32_t thread, Order order, Scope scope, bool exchange, Published& at) {
  const bool releases = order == Order::release || order == Order::acq_rel || order == Order::sc;
  Clock c = releases ? known_to(thread, ++time_[thread / kLanes]) : released_by_fences(thread, scope);
  if (!exchange) at = Published();
  if (c.empty()) return;
  if (scope == Scope::cta)
    at.in_block[block_].merge(c);
  else
    at.everywhere.merge(c);
}

void BlockOrder::observe(uint32_t thread, Order order, Scope scope, const Published& at) {
  const bool acquires = order == Order::acquire || order == Order::acq_rel || order == Order::sc;
  Clock& to = acquires ? own_[thread] : pending_[thread];
  if (scope != Scope::cta) to.merge(at.everywhere);
  if (const auto it = at.in_block.find(block_); it != at.in_block.end()) to.merge(it->second);
}

}  // namespace heddle::ptx
