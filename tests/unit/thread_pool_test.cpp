#include "runtime/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace heddle::runtime {
namespace {

// Every thread index is served exactly once per launch, whatever the number of threads, more than processors included.
TEST(ThreadPool, RunsEachShareOnce) {
  for (int threads : {1, 2, 4, 9}) {
    ThreadPool pool(threads);
    std::vector<int> hits(static_cast<size_t>(threads), 0);
    for (int launch = 0; launch < 2000; ++launch) {
      pool.run([&](int thread, int count) {
        ASSERT_EQ(count, threads);
        ++hits[static_cast<size_t>(thread)];
      });
    }
    for (int h : hits) EXPECT_EQ(h, 2000) << threads << " threads";
  }
}

TEST(ThreadPool, LimitKeepsTheOtherThreadsOut) {
  ThreadPool pool(4);
  std::atomic<int> calls{0}, largest{-1};
  pool.run(
      [&](int thread, int count) {
        ++calls;
        EXPECT_EQ(count, 2);
        if (thread > largest) largest = thread;
      },
      2);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(largest, 1);
}

// What one launch writes, the next reads on another thread.
TEST(ThreadPool, LaunchesAreOrdered) {
  ThreadPool pool(3);
  std::vector<int> data(300, 0);
  for (int round = 0; round < 500; ++round) {
    pool.run([&](int thread, int count) {
      const Share mine = share(300, (thread + round) % count, count);
      for (int64_t i = mine.begin; i < mine.end; ++i) ++data[static_cast<size_t>(i)];
    });
  }
  for (int v : data) ASSERT_EQ(v, 500);
}

TEST(ThreadPool, RethrowsAndStaysUsable) {
  ThreadPool pool(2);
  EXPECT_THROW(pool.run([](int thread, int) {
    if (thread == 1) throw std::runtime_error("worker");
  }),
               std::runtime_error);
  std::atomic<int> ran{0};
  pool.run([&](int, int) { ++ran; });
  EXPECT_EQ(ran, 2);
}

// A pool that has gone to sleep wakes up again.
TEST(ThreadPool, WakesAfterIdling) {
  ThreadPool pool(2);
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic<int> ran{0};
    pool.run([&](int, int) { ++ran; });
    EXPECT_EQ(ran, 2);
  }
}

TEST(Share, CoversTheRangeOnce) {
  for (int64_t n : {0, 1, 7, 64, 100}) {
    for (int64_t count : {1, 2, 3, 8}) {
      int64_t next = 0;
      for (int64_t i = 0; i < count; ++i) {
        const Share s = share(n, i, count);
        EXPECT_EQ(s.begin, next);
        EXPECT_LE(n / count, s.size());
        EXPECT_LE(s.size(), n / count + 1);
        next = s.end;
      }
      EXPECT_EQ(next, n);
    }
  }
}

}  // namespace
}  // namespace heddle::runtime
