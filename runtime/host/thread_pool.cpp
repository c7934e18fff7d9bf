#include "runtime/host/thread_pool.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "ir/check.h"
#include "ir/diagnostic.h"
#include "runtime/host/step_memory.h"

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

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int available_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadPool::ThreadPool(int threads)
    : threads_(std::max(1, threads)),
      spins_(threads_ > available_processors() ? 0 : kSpins),
      queues_(std::make_unique<Queue[]>(static_cast<size_t>(threads_))) {
  workers_.reserve(static_cast<size_t>(threads_ - 1));
  try {
    for (int t = 1; t < threads_; ++t) workers_.emplace_back([this, t] { work_loop(t); });
  } catch (const std::system_error& error) {
    stop_workers();
    throw UserError(
        ExitCode::limit,
        fmt::format("cannot start thread {} of {}: {}", std::ssize(workers_) + 2, threads_, error.code().message()),
        "ask for fewer with --threads, or raise the limits that ulimit -u and ulimit -v show");
  }
}

ThreadPool::~ThreadPool() { stop_workers(); }

void ThreadPool::stop_workers() {
  stop_.store(true, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& w : workers_) w.join();
}

// A worker that comes late finds another generation in the tickets, or none left, and touches nothing.
int64_t ThreadPool::claim(Queue& queue, uint32_t generation) {
  uint64_t ticket = queue.ticket.load(std::memory_order_acquire);
  for (;;) {
    const uint64_t next = ticket >> 16 & 0xffff, end = ticket & 0xffff;
    if (ticket >> 32 != generation || next == end) return -1;
    if (queue.ticket.compare_exchange_weak(ticket, ticket + (1 << 16), std::memory_order_acquire)) {
      return static_cast<int64_t>(next);
    }
  }
}

void ThreadPool::execute(int64_t item) {
  try {
    function_(context_, item);
  } catch (...) {
    if (!failed_.exchange(true)) error_ = std::current_exception();
  }
}

// First the thread's own items, then those of the others.
void ThreadPool::take_part(int thread, uint32_t generation) {
  int64_t items = 0;  // of the launch; known once an item is claimed
  int32_t finished = 0;
  double begin = 0;
  for (int i = 0; i < threads_; ++i) {
    Queue& queue = queues_[static_cast<size_t>((thread + i) % threads_)];
    for (int64_t item = claim(queue, generation); item >= 0; item = claim(queue, generation)) {
      items = items_;
      if (shares_ != nullptr && finished == 0) begin = seconds_now();
      execute(item);
      ++finished;
    }
  }
  if (finished == 0) return;
  if (shares_ != nullptr) (*shares_)[static_cast<size_t>(thread)].push_back({begin, seconds_now()});
  if (done_.fetch_add(finished, std::memory_order_acq_rel) + finished == items) done_.notify_one();
}

void ThreadPool::launch(Function function, void* context, int64_t items) {
  HEDDLE_CHECK(items <= kMostItems, "a launch has too many items");
  function_ = function;
  context_ = context;
  items_ = items;
  done_.store(0, std::memory_order_relaxed);
  const uint32_t generation = generation_.load(std::memory_order_relaxed) + 1;
  for (int t = 0; t < threads_; ++t) {
    const Share mine = share(items, t, threads_);
    queues_[static_cast<size_t>(t)].ticket.store(
        uint64_t{generation} << 32 | static_cast<uint64_t>(mine.begin) << 16 | static_cast<uint64_t>(mine.end),
        std::memory_order_release);
  }
  generation_.store(generation, std::memory_order_release);
  generation_.notify_all();
  take_part(0, generation);
  const auto all = static_cast<int32_t>(items);
  for (int32_t done = done_.load(std::memory_order_acquire); done != all;
       done = done_.load(std::memory_order_acquire)) {
    wait_for_change(done_, done, spins_);
  }
  if (failed_.exchange(false)) std::rethrow_exception(std::exchange(error_, nullptr));
}

void ThreadPool::work_loop(int thread) {
  uint32_t seen = 0;
  for (;;) {
    wait_for_change(generation_, seen, spins_);
    seen = generation_.load(std::memory_order_acquire);
    if (stop_.load(std::memory_order_relaxed)) return StepMemory::leave_thread();
    take_part(thread, seen);
  }
}

}  // namespace heddle::runtime
