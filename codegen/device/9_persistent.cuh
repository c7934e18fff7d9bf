#pragma once
// A persistent kernel calls the texts of all launches of a step. The blocks of the grid meet at a barrier where a launch
// would wait for another. The blocks of a launch are distributed over the blocks of the grid;
// hd::block() and hd::blocks() are the launch's.
#if defined(HD_PERSISTENT)

#define HD_PERSISTENT_KERNEL(name, threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks) name

namespace hd {

// The arguments of a launch: At is an address that converts to any pointer type; Number is a number as its bytes.
struct At {
  char* byte;
  template <class T>
  HD_DEVICE operator T*() const {
    return reinterpret_cast<T*>(byte);
  }
};
struct Number {
  u64 bits;
  template <class T>
  HD_DEVICE operator T() const {
    T number;
    copy_bytes(&number, &bits, sizeof(T));
    return number;
  }
};

// Makes the compiler forget the value of a pointer. Otherwise it would compute the addresses of all steps once, before
// the loop, and would need hundreds of registers for them.
HD_DEVICE void forget(char*& base) { asm volatile("" : "+l"(base)); }

class Grid {
 public:
  HD_DEVICE explicit Grid(u32* arrived) : arrived_(arrived) {}
  HD_DEVICE int at_most(int blocks) const { return least(blocks, (int)gridDim.x); }

  // For a launch of `blocks` blocks: the first block that this block of the grid executes. Launches between two
  // barriers are distributed one after the other, so that they use different blocks of the grid.
  HD_DEVICE int deal(int blocks) {
    const int all = (int)gridDim.x, mine = ((int)blockIdx.x + all - first_) % all;
    first_ = (first_ + blocks) % all;
    return mine;
  }
  HD_DEVICE bool takes(int block, int blocks) const {
    if (block >= blocks) return false;
    barrier();  // what lies in shared memory has been read
    if (thread() == 0) launched = {block, blocks};
    barrier();
    return true;
  }

  // A barrier of the whole grid. Afterwards all blocks see what any block wrote before. Each barrier adds 2^31 to the
  // counter in all, so its highest bit changes when the last block arrives.
  HD_DEVICE void meet() {
    barrier();
    if (thread() == 0) {
      const u32 add = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1u;
      u32 before, now;
      asm volatile("atom.add.release.gpu.global.u32 %0, [%1], %2;" : "=r"(before) : "l"(arrived_), "r"(add) : "memory");
      do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(arrived_) : "memory");
      while (((before ^ now) & 0x80000000u) == 0);
    }
    barrier();
    first_ = 0;
  }

 private:
  u32* arrived_;
  int first_ = 0;
};

template <int bytes>
HD_DEVICE void copy_words(At to, At from, i64 words) {
  using W = typename Word<bytes>::type;
  W* const target = to;
  const W* const source = from;
  for (i64 i = (i64)block() * threads() + thread(); i < words; i += (i64)blocks() * threads()) target[i] = source[i];
}

}  // namespace hd

// The loop over the blocks of one launch.
#define HD_BLOCKS(grid, count)                                                                                        \
  for (int hd_blocks = (count), hd_block = grid.deal(hd_blocks); grid.takes(hd_block, hd_blocks); hd_block += gridDim.x)

// The turns of a loop; the text of a turn occurs once.
#define HD_TURNS(turn, count) _Pragma("unroll 1") for (int turn = 0; turn < (count); ++turn)

#endif
