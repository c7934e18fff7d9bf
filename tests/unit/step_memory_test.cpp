#include "runtime/host/step_memory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "tests/unit/allocations.h"

namespace heddle::runtime {
namespace {

struct alignas(64) Wide {
  double values[8] = {};
};

class StepMemoryTest : public testing::Test {
  void SetUp() override {
    if (!StepMemory::active) GTEST_SKIP() << "the address sanitizer has its own operator new";
  }
};

TEST_F(StepMemoryTest, ServesWhileItLives) {
  const int64_t before = test::allocations();
  for (int round = 0; round < 1000; ++round) {
    const StepMemory scope;
    std::unordered_map<int, int> map;
    for (int i = 0; i < 20; ++i) map[i] = i * round;
    for (int i = 0; i < 20; ++i) ASSERT_EQ(map[i], i * round);
  }
  EXPECT_EQ(test::allocations(), before);
  void* const outside = ::operator new(1);  // a call, which no compiler may leave out as it may a new-expression
  EXPECT_EQ(test::allocations(), before + 1);
  ::operator delete(outside);
}

TEST_F(StepMemoryTest, AlignsAndKeepsObjectsApart) {
  const StepMemory scope;
  std::vector<std::unique_ptr<Wide>> wide;
  std::vector<std::unique_ptr<char>> narrow;
  for (int i = 0; i < 20; ++i) {
    wide.push_back(std::make_unique<Wide>());
    narrow.push_back(std::make_unique<char>('a'));
    ASSERT_EQ(reinterpret_cast<uintptr_t>(wide.back().get()) % 64, 0U);
    std::memset(wide.back()->values, 0xff, sizeof wide.back()->values);
  }
  for (const auto& c : narrow) EXPECT_EQ(*c, 'a');
}

// What outlives its scope stays whole, whatever later scopes take, and may be returned by another thread.
TEST_F(StepMemoryTest, ObjectsMayOutliveIt) {
  std::unique_ptr<std::vector<int>> kept;
  {
    const StepMemory scope;
    kept = std::make_unique<std::vector<int>>(100, 7);
  }
  for (int round = 0; round < 100; ++round) {
    const StepMemory scope;
    const std::vector<int> other(500, round);
    ASSERT_EQ(other[499], round);
  }
  EXPECT_EQ(*kept, std::vector<int>(100, 7));
  std::thread([&] { kept.reset(); }).join();
  const int64_t before = test::allocations();
  {
    const StepMemory scope;
    const std::vector<char> most(StepMemory::kBytes - 64);  // the whole block is free again
  }
  EXPECT_EQ(test::allocations(), before);
}

// A library makes some objects once for each thread: they do not use up what serves its later calls.
TEST_F(StepMemoryTest, WhatIsKeptForEverLeavesRoom) {
  std::vector<std::unique_ptr<int>> kept;
  kept.reserve(3);
  const int64_t before = test::allocations();
  for (int round = 0; round < 1000; ++round) {
    const StepMemory scope;
    if (round % 400 == 0) kept.push_back(std::make_unique<int>(round));
    const std::vector<char> passing(1000, 'x');
    ASSERT_EQ(passing[999], 'x');
  }
  EXPECT_EQ(test::allocations(), before);
  for (size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(*kept[i], static_cast<int>(i) * 400);
}

TEST_F(StepMemoryTest, TheHeapServesWhenItIsFull) {
  const StepMemory scope;
  const int64_t before = test::allocations();
  const std::vector<char> large(StepMemory::kBytes + 1, 'x');
  EXPECT_EQ(test::allocations(), before + 1);
  EXPECT_EQ(large.back(), 'x');
}

// One after the other, more threads than there are blocks.
TEST_F(StepMemoryTest, ThreadsHandOnTheirBlocks) {
  for (int i = 0; i < StepMemory::kThreads + 20; ++i) {
    std::thread([] {
      const int64_t before = test::allocations();
      {
        const StepMemory scope;
        EXPECT_EQ(*std::make_unique<int>(5), 5);
      }
      EXPECT_EQ(test::allocations(), before);
      StepMemory::leave_thread();
    }).join();
  }
}

// Threads that keep their blocks use them up; the heap serves the others.
TEST_F(StepMemoryTest, TheHeapServesWhenNoBlockIsLeft) {
  std::vector<std::thread> threads;
  std::atomic<int> arrived{0}, right{0};
  constexpr int kThreads = StepMemory::kThreads + 5;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const StepMemory scope;
      const auto value = std::make_unique<int>(i);
      for (++arrived; arrived < kThreads;) std::this_thread::yield();
      right += *value == i ? 1 : 0;
      StepMemory::leave_thread();
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right, kThreads);
}

}  // namespace
}  // namespace heddle::runtime
