// ThreadPool: a fixed set of threads that execute the items of one launch at a time.
//
//   pool.run(8, [&](int64_t item) { ... });   // returns when all eight have run; the caller works too
//
// Thread t owns the items of share(8, t, threads), so that consecutive launches find their data in the caches of the
// same processors. A thread that has finished takes over items that their owner has not begun. So a launch never waits
// for a thread that the system has not scheduled. An item's result must not depend on the thread that runs it.
//
// A launch costs about a microsecond while the workers are awake: they spin for a short, bounded time before they
// sleep. Nothing is allocated by a launch.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace heddle::runtime {

class ThreadPool {
 public:
  static constexpr int64_t kMostItems = 65535;

  // `threads`: at least 1, and includes the calling thread. Throws UserError when the system cannot start as many.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  // Calls work(item) once for each item = 0 ... items - 1 (at most kMostItems). The first exception is rethrown here,
  // after all items have run. Must not be called from within work.
  template <class Work>
  void run(int64_t items, Work&& work) {
    if (threads_ == 1 || items <= 1) {
      for (int64_t i = 0; i < items; ++i) work(i);
      return;
    }
    using Callable = std::remove_reference_t<Work>;
    launch([](void* context, int64_t item) { (*static_cast<Callable*>(context))(item); },
           const_cast<void*>(static_cast<const void*>(&work)), items);
  }

  // A thread's part in a launch, in seconds of seconds_now().
  struct TimeShare {
    double begin = 0, end = 0;
  };
  // From now on each thread appends its part in each launch to its list; nullptr ends this. Work that the caller does
  // alone is not recorded.
  void note_shares(std::vector<std::vector<TimeShare>>* by_thread) { shares_ = by_thread; }

  // Calls work() exactly once on every thread of the pool.
  template <class Work>
  void run_on_each_thread(Work&& work) {
    std::atomic<int> arrived{0};
    run(threads_, [&](int64_t) {
      work();
      ++arrived;
      while (arrived < threads_) std::this_thread::yield();  // a thread that waits here takes no second item
    });
  }

 private:
  using Function = void (*)(void* context, int64_t item);
  // The items of a thread that have not begun, and the launch that they belong to, in one atomic word: generation << 32
  // | next << 16 | end.
  struct alignas(64) Queue {
    std::atomic<uint64_t> ticket{0};
  };

  void stop_workers();
  void launch(Function function, void* context, int64_t items);
  void work_loop(int thread);
  void take_part(int thread, uint32_t generation);
  int64_t claim(Queue& queue, uint32_t generation);  // returns an item, or -1
  void execute(int64_t item);

  // The caller writes these before the tickets. Only a thread that has claimed an item of this launch reads them.
  Function function_ = nullptr;
  void* context_ = nullptr;
  int64_t items_ = 0;
  std::vector<std::vector<TimeShare>>* shares_ = nullptr;

  int threads_;
  int spins_;  // 0 when there are more threads than processors: spinning would only keep the work from running
  std::unique_ptr<Queue[]> queues_;
  alignas(64) std::atomic<uint32_t> generation_{0};
  alignas(64) std::atomic<int32_t> done_{0};
  alignas(64) std::atomic<bool> failed_{false};
  std::atomic<bool> stop_{false};
  std::exception_ptr error_;  // written by the thread that set failed_
  std::vector<std::thread> workers_;
};

// Share number `index` of [0, n), which is cut into `count` contiguous shares. Sizes differ by at most one; the larger
// shares come first.
struct Share {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};
Share share(int64_t n, int64_t index, int64_t count);

// Seconds of a monotonic clock.
double seconds_now();

// The number of processors that this process may run on.
int available_processors();

}  // namespace heddle::runtime
