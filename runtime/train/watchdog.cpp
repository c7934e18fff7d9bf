#include "runtime/train/watchdog.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace heddle::runtime {

Watchdog::Watchdog(double seconds, std::function<void(double)> hangs)
    : seconds_(seconds), hangs_(std::move(hangs)), thread_([this] { look(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void Watchdog::look() {
  const double tick = std::min(1.0, seconds_ / 4);
  uint64_t watched = 0;
  double waited = 0;
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, std::chrono::duration<double>(tick), [this] { return end_; })) {
    const bool same = at_work_ && begun_ == watched;
    waited = same ? waited + tick : 0;
    watched = begun_;
    if (waited < seconds_) continue;
    hangs_(waited);
    return;
  }
}

}  // namespace heddle::runtime
