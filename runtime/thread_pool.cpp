#include "runtime/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <utility>

namespace heddle::runtime {
namespace {

// About 100 us: longer than the gap between two launches of a step, short enough that an idle pool costs nothing.
constexpr int kSpins = 2500;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Returns once `value` differs from `old`: spins for a while, then sleeps in the kernel.
template <class T>
void wait_for_change(const std::atomic<T>& value, T old, int spins) {
  for (int i = 0; i < spins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

Share share(int64_t n, int64_t index, int64_t count) {
  const int64_t base = n / count, extra = n % count;
  const int64_t begin = index * base + std::min(index, extra);
  return {begin, begin + base + (index < extra ? 1 : 0)};
}

int available_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadPool::ThreadPool(int threads)
    : threads_(std::max(1, threads)), spins_(threads_ > available_processors() ? 0 : kSpins) {
  workers_.reserve(static_cast<size_t>(threads_ - 1));
  for (int t = 1; t < threads_; ++t) workers_.emplace_back([this, t] { work_loop(t); });
}

ThreadPool::~ThreadPool() {
  stop_ = true;
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& w : workers_) w.join();
}

void ThreadPool::execute(int thread) {
  if (thread >= count_) return;
  try {
    function_(context_, thread, count_);
  } catch (...) {
    if (!failed_.exchange(true)) error_ = std::current_exception();
  }
}

void ThreadPool::launch(Function function, void* context, int count) {
  function_ = function;
  context_ = context;
  count_ = count;
  pending_.store(threads_ - 1, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  execute(0);
  for (int32_t left = pending_.load(std::memory_order_acquire); left != 0;
       left = pending_.load(std::memory_order_acquire)) {
    wait_for_change(pending_, left, spins_);
  }
  if (failed_.exchange(false)) std::rethrow_exception(std::exchange(error_, nullptr));
}

void ThreadPool::work_loop(int thread) {
  uint32_t seen = 0;
  for (;;) {
    wait_for_change(generation_, seen, spins_);
    // Every worker answers every launch, so a generation is never missed.
    ++seen;
    if (stop_) return;
    execute(thread);
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_one();
  }
}

}  // namespace heddle::runtime
