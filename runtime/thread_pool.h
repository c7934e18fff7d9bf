// ThreadPool: a fixed set of threads that run one piece of work at a time, each thread its own fixed share.
//
//   pool.run([&](int thread, int threads) { ... });   // thread 0 is the caller; returns when all have finished
//
// A launch costs one or two microseconds while the workers are awake: they spin for a short, bounded time after a
// launch before they sleep. Nothing is allocated by a launch.
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
  explicit ThreadPool(int threads);  // at least 1, the calling thread included
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  // Calls work(thread, count) for thread = 0 ... count - 1, each on its own thread; count is `limit` or the number of
  // threads, whichever is smaller. The first exception of any thread is rethrown here. Must not be called from within
  // work.
  template <class Work>
  void run(Work&& work, int limit = INT32_MAX) {
    const int count = limit < threads_ ? limit : threads_;
    if (count <= 1) {
      work(0, 1);
      return;
    }
    using Callable = std::remove_reference_t<Work>;
    launch([](void* context, int thread, int n) { (*static_cast<Callable*>(context))(thread, n); },
           const_cast<void*>(static_cast<const void*>(&work)), count);
  }

 private:
  using Function = void (*)(void* context, int thread, int count);
  void launch(Function function, void* context, int count);
  void work_loop(int thread);
  void execute(int thread);

  // Written by the caller before `generation_` is advanced, read by the workers after they have seen it.
  Function function_ = nullptr;
  void* context_ = nullptr;
  int count_ = 0;
  bool stop_ = false;

  int threads_;
  int spins_;  // 0 when there are more threads than processors: spinning would only keep the work from running
  alignas(64) std::atomic<uint32_t> generation_{0};
  alignas(64) std::atomic<int32_t> pending_{0};
  alignas(64) std::atomic<bool> failed_{false};
  std::exception_ptr error_;  // written by the thread that set failed_
  std::vector<std::thread> workers_;
};

// Item `index` of `count` shares of [0, n): contiguous, sizes differ by at most one, the larger ones first.
struct Share {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};
Share share(int64_t n, int64_t index, int64_t count);

// Processors this process may run on.
int available_processors();

}  // namespace heddle::runtime
