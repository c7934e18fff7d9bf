// Watchdog: calls a function, which ends the process, when a step on the device takes too long.
//
//   Watchdog dog(600, report);              // a thread of its own
//   { const Watchdog::Watch watch(&dog); device.wait(n); }   // longer than 600 s: report(600), which ends the process
//
// The watchdog's thread counts time in ticks, each of at most a second. So the time in which the process is stopped
// (SIGSTOP) or the machine sleeps, and jumps of the clock, do not count.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace heddle::runtime {

class Watchdog {
 public:
  // The watchdog's thread calls `hangs` once, with the seconds that the step has taken so far.
  Watchdog(double seconds, std::function<void(double)> hangs);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // While a Watch lives, the device is at work. There may be one at a time. nullptr: nothing is watched.
  class Watch {
   public:
    explicit Watch(Watchdog* dog) : dog_(dog) {
      if (dog_ != nullptr) ++dog_->begun_, dog_->at_work_ = true;
    }
    ~Watch() {
      if (dog_ != nullptr) dog_->at_work_ = false;
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    Watchdog* dog_;
  };

 private:
  void look();
  double seconds_;
  std::function<void(double)> hangs_;
  std::atomic<bool> at_work_{false};
  std::atomic<uint64_t> begun_{0};  // watches so far
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace heddle::runtime
