// Watchdog: ends the process where the device does not come back from a step.
//
//   Watchdog dog(600, report);              // a thread of its own
//   { const Watchdog::Watch watch(&dog); device.wait(n); }   // longer than 600 s: report(600), which ends the process
//
// Time is counted in the thread's own ticks, of a second at most each: a process that is stopped (SIGSTOP), a machine
// that sleeps and a clock that jumps take no time.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace heddle::runtime {

class Watchdog {
 public:
  // `hangs` is called by the watchdog's thread, once, with the seconds that the step took so far.
  Watchdog(double seconds, std::function<void(double)> hangs);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // While it lives, the device is at work. One at a time; nullptr: nobody watches.
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
