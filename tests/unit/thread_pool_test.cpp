#include "runtime/host/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "ir/diagnostic.h"

namespace heddle::runtime {
namespace {

// Every item runs exactly once per launch, whatever the number of threads, more than processors included.
TEST(ThreadPool, RunsEachItemOnce) {
  for (int threads : {1, 2, 4, 9}) {
    ThreadPool pool(threads);
    for (int64_t items : {0, 1, 2, 3, 8, 100}) {
      std::vector<int> hits(static_cast<size_t>(items), 0);
      for (int launch = 0; launch < 300; ++launch) {
        pool.run(items, [&](int64_t item) { ++hits[static_cast<size_t>(item)]; });
      }
      for (int h : hits) ASSERT_EQ(h, 300) << threads << " threads, " << items << " items";
    }
  }
}

// Where it is asked for, each thread's part in a launch is noted, between the launch's begin and end.
TEST(ThreadPool, NotesSharesWhileTheyAreAskedFor) {
  ThreadPool pool(2);
  std::vector<std::vector<ThreadPool::TimeShare>> shares(2);
  pool.note_shares(&shares);
  const double begin = seconds_now();
  pool.run_on_each_thread([] {});
  const double end = seconds_now();
  pool.note_shares(nullptr);
  pool.run_on_each_thread([] {});
  for (const auto& thread : shares) {
    ASSERT_EQ(thread.size(), 1u);
    EXPECT_LE(begin, thread[0].begin);
    EXPECT_LE(thread[0].begin, thread[0].end);
    EXPECT_LE(thread[0].end, end);
  }
}

TEST(ThreadPool, RunsOnceOnEachThread) {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (int round = 0; round < 100; ++round) {
      std::mutex mutex;
      std::multiset<std::thread::id> seen;
      pool.run_on_each_thread([&] {
        const std::lock_guard lock(mutex);
        seen.insert(std::this_thread::get_id());
      });
      ASSERT_EQ(std::ssize(seen), threads);
      ASSERT_EQ(std::set<std::thread::id>(seen.begin(), seen.end()).size(), seen.size());
    }
  }
}

// What one launch writes, the next reads on another thread.
TEST(ThreadPool, LaunchesAreOrdered) {
  ThreadPool pool(3);
  std::vector<int> data(300, 0);
  for (int round = 0; round < 500; ++round) {
    pool.run(3, [&](int64_t item) {
      const Share mine = share(300, (item + round) % 3, 3);
      for (int64_t i = mine.begin; i < mine.end; ++i) ++data[static_cast<size_t>(i)];
    });
  }
  for (int v : data) ASSERT_EQ(v, 500);
}

// An owner that is held up does not hold up the items it has not begun.
TEST(ThreadPool, TakesOverFromALateThread) {
  ThreadPool pool(2);
  std::atomic<int> others{0};
  pool.run(8, [&](int64_t item) {
    if (item == 4) {  // the first item of thread 1, or of whoever takes it over
      for (int i = 0; i < 20000 && others < 7; ++i) std::this_thread::sleep_for(std::chrono::microseconds(100));
      EXPECT_EQ(others, 7);
    } else {
      ++others;
    }
  });
  EXPECT_EQ(others, 7);
}

TEST(ThreadPool, RunsOnAllThreadsAtOnce) {
  ThreadPool pool(3);
  std::atomic<int> here{0};
  pool.run(3, [&](int64_t) {  // each item waits for the other two
    ++here;
    for (int i = 0; i < 50000 && here < 3; ++i) std::this_thread::sleep_for(std::chrono::microseconds(100));
  });
  EXPECT_EQ(here, 3);
}

// An exception arrives at the caller after all items have run, and the pool stays usable.
TEST(ThreadPool, RethrowsAndStaysUsable) {
  ThreadPool pool(2);
  std::atomic<int> ran{0};
  const auto failing = [&](int64_t item) {
    ++ran;
    if (item == 5) throw std::runtime_error("item");
  };
  EXPECT_THROW(pool.run(8, failing), std::runtime_error);
  EXPECT_EQ(ran, 8);
  pool.run(2, [&](int64_t) { ++ran; });
  EXPECT_EQ(ran, 10);
}

// A pool that has gone to sleep wakes up again.
TEST(ThreadPool, WakesAfterIdling) {
  ThreadPool pool(2);
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic<int> ran{0};
    pool.run(2, [&](int64_t) { ++ran; });
    EXPECT_EQ(ran, 2);
  }
}

// Threads that the system does not give are an error with a remedy; those that were started end.
TEST(ThreadPoolDeathTest, TellsWhenThreadsAreNotGiven) {
  if (HEDDLE_SANITIZED) GTEST_SKIP() << "AddressSanitizer reserves more address space than any limit leaves";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto start_too_many = [] {
    const struct rlimit limit { int64_t{2} << 30, int64_t{2} << 30 };
    setrlimit(RLIMIT_AS, &limit);
    try {
      const ThreadPool pool(1024);  // 8 GiB of stacks
    } catch (const UserError& error) {
      std::fputs(error.what(), stderr);
      _exit(static_cast<int>(error.code()));
    }
    _exit(0);
  };
  EXPECT_EXIT(start_too_many(), testing::ExitedWithCode(4),
              "cannot start thread [0-9]+ of 1024: .*\nhelp: ask for fewer with --threads");
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
