#include "runtime/host/heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "ir/diagnostic.h"
#include "runtime/host/host_device.h"
#include "runtime/process/process_memory.h"

namespace heddle::runtime {
namespace {

std::vector<char> touched;

// Of arrays from a GiB on mimalloc does not know that they are its own: given to free(), they ended the process.
// Memory is reserved, and only the ends of it are touched.
TEST(Heap, TakesBackArraysOfAnySize) {
  if (HEDDLE_SANITIZED) GTEST_SKIP() << "the address sanitizer has its own operator new";
  constexpr size_t kMiB = size_t{1} << 20, kGiB = size_t{1} << 30;
  std::thread([] {
    use_small_object_heap();
    for (const size_t bytes : {size_t{1}, kMiB, kMiB + 1, kGiB - 1, kGiB, kGiB + 1, 4 * kGiB, 4 * kGiB + 1}) {
      for (const size_t align : {alignof(std::max_align_t), size_t{4096}}) {
        auto* p = static_cast<char*>(::operator new(bytes, std::align_val_t(align)));
        EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % align, 0U) << bytes;
        p[0] = p[bytes - 1] = 1;
        ::operator delete(p, std::align_val_t(align));
      }
      auto* plain = static_cast<char*>(::operator new(bytes));
      plain[0] = plain[bytes - 1] = 1;
      ::operator delete(plain);
    }
  }).join();
}

// Each may be freed by a thread that takes its own from elsewhere.
TEST(Heap, ObjectsMayOutliveTheirThread) {
  std::vector<std::vector<int>> kept;
  std::thread([&kept] {
    use_small_object_heap();
    for (int i = 0; i < 1000; ++i) kept.emplace_back(static_cast<size_t>(i), i);
  }).join();
  for (int i = 0; i < 1000; ++i)
    for (const int x : kept[static_cast<size_t>(i)]) ASSERT_EQ(x, i);
  kept.clear();
}

// The system promises more than it has: two arrays of 0.6 of the machine's memory are one too many, touched or not.
TEST(HostMemory, MoreThanTheMachineHasIsALimit) {
  HostDevice device;
  const int64_t all = machine_memory_bytes(), most = all / 10 * 6;
  ASSERT_GT(all, int64_t{1} << 28);
  void* first = device.allocate(most);
  try {
    device.allocate(most);
    FAIL() << "allocated";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::limit);
    EXPECT_NE(std::string(error.what()).find(std::to_string(all)), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("help: a smaller batch takes less"), std::string::npos) << error.what();
  }
  device.release(first);
  device.release(device.allocate(most));  // what was given back counts no more
}

TEST(HostMemory, ThePeakIsWhatWasTouched) {
  const int64_t before = peak_resident_bytes();
  ASSERT_GT(before, 0);
  const int64_t more = std::max<int64_t>(before - resident_bytes(), 0) + (int64_t{64} << 20);
  std::vector<char>(static_cast<size_t>(more), 1).swap(touched);
  EXPECT_GE(peak_resident_bytes(), before + (int64_t{32} << 20));
  touched = {};
  EXPECT_GE(peak_resident_bytes(), before + (int64_t{32} << 20));
}

}  // namespace
}  // namespace heddle::runtime
