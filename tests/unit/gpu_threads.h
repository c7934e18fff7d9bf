// What CUDA supplies to the preamble's GPU branch, by host threads: one per thread of a block. Blocks run one after the
// other, so that a static is a block's shared memory. Barriers and masks are checked: who waits for a thread
// that never comes, exchanges with a thread outside the mask, or counts a block in before its threads have met, fails.
//
// Include it before the preamble's files. Timing, banks and the caches of a real GPU are its own.
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"

struct GpuCoordinate {
  int x;
};
struct uint2 {
  unsigned x, y;
};
struct uint4 {
  unsigned x, y, z, w;
};
inline thread_local GpuCoordinate blockIdx, gridDim, threadIdx, blockDim;

// Threads that meet: all `members` leave their word, then each takes another's.
class GpuMeeting {
 public:
  // The words of all, or nothing after a failure.
  const std::vector<unsigned>* meet(size_t members, size_t place, unsigned word) {
    std::unique_lock lock(mutex_);
    const size_t generation = generation_;
    words_.resize(32 > members ? 32 : members);
    words_[place] = word;
    if (++arrived_ == members) {
      all_ = words_;
      arrived_ = 0;
      ++generation_;
      changed_.notify_all();
      return &all_;
    }
    constexpr std::chrono::seconds kLong(60);  // no thread of a right kernel is away for so long
    if (changed_.wait_for(lock, kLong, [&] { return generation_ != generation || failed(); }) && !failed())
      return &all_;
    fail("a thread of the block never came");
    return nullptr;
  }
  static bool failed() { return failed_.load(); }
  static void fail(const char* reason) {
    if (!failed_.exchange(true)) ADD_FAILURE() << reason << ": block " << blockIdx.x << ", thread " << threadIdx.x;
  }
  static void reset() { failed_ = false; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<unsigned> words_, all_;
  size_t arrived_ = 0, generation_ = 0;
  static inline std::atomic<bool> failed_ = false;
};

struct GpuBlock {
  GpuMeeting barrier;
  std::mutex mutex;
  std::map<std::pair<int, unsigned>, GpuMeeting> warps;  // by warp and mask
  std::atomic<int> counts = 0;                           // that its threads have made

  GpuMeeting& warp(unsigned mask) {
    const std::lock_guard lock(mutex);
    return warps[{threadIdx.x / 32, mask}];
  }
};
inline GpuBlock* gpu_block = nullptr;
inline thread_local int gpu_barriers = 0,
                        gpu_counts_known = 0;  // barriers passed; blocks counted in before the last one

inline void __syncthreads() {
  if (GpuMeeting::failed()) return;
  std::this_thread::yield();
  gpu_block->barrier.meet(static_cast<size_t>(blockDim.x), static_cast<size_t>(threadIdx.x), 0);
  ++gpu_barriers;
  gpu_counts_known = gpu_block->counts.load();
}

inline unsigned __shfl_xor_sync(unsigned mask, unsigned word, int distance) {
  if (GpuMeeting::failed()) return word;
  const unsigned lane = static_cast<unsigned>(threadIdx.x) % 32, other = lane ^ static_cast<unsigned>(distance);
  if ((mask >> lane & 1) == 0 || other >= 32 || (mask >> other & 1) == 0) {
    GpuMeeting::fail("a thread exchanges with one outside the mask");
    return word;
  }
  const std::vector<unsigned>* all =
      gpu_block->warp(mask).meet(static_cast<size_t>(__builtin_popcount(mask)), lane, word);
  return all == nullptr ? word : (*all)[other];
}

// Runs `kernel` in every thread of every block.
void gpu_launch(int blocks, int threads, const auto& kernel) {
  GpuMeeting::reset();
  for (int block = 0; block < blocks; ++block) {
    GpuBlock shared;
    gpu_block = &shared;
    std::vector<std::thread> running;
    for (int thread = 0; thread < threads; ++thread)
      running.emplace_back([&, block, thread] {
        blockIdx = {block};
        gridDim = {blocks};
        threadIdx = {thread};
        blockDim = {threads};
        kernel();
      });
    for (std::thread& t : running) t.join();
  }
}

#define HD_CUDA
#define hd hd_gpu  // beside the host's functions of the same names
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_assume(condition) ((condition) ? void() : std::abort())  // what NVRTC takes for granted
#define __shared__  // of as many bytes as a launch says: whoever needs them defines hd::shared_bytes
#include "codegen/device/1_target.cuh"
#undef __shared__
#define __shared__ static
#undef HD_UNROLL  // a pragma of CUDA compilers
#define HD_UNROLL
#include "codegen/device/2_types.cuh"
#include "codegen/device/6_loops.cuh"

// Instead of the instructions of 6_scopes.cuh.
namespace hd {
template <class M>
M written(const M* from) {
  return *from;
}
inline u32 count_in(u32* counter) {
  if (gpu_barriers == 0) GpuMeeting::fail("the block is counted in before its threads have met");
  ++gpu_block->counts;
  return std::atomic_ref<u32>(*counter).fetch_add(1);
}
}  // namespace hd
