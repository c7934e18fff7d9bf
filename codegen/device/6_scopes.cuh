#pragma once
// Communication between the blocks of a launch; everything of GPU scope is here. The threads of a block write their
// results with plain stores and meet at a barrier. Then one thread increments a counter, which releases what all of
// them wrote. The block that arrives last thereby acquires what the others released. After another barrier its threads
// read it, past the cache of their multiprocessor.
namespace hd {
#if defined(HD_CUDA)

HD_DEVICE void read_written(u8& to, const u8* from) {
  u32 word;
  asm volatile("ld.relaxed.gpu.global.u8 %0, [%1];" : "=r"(word) : "l"(from) : "memory");
  to = (u8)word;
}
HD_DEVICE void read_written(u16& to, const u16* from) {
  asm volatile("ld.relaxed.gpu.global.u16 %0, [%1];" : "=h"(to) : "l"(from) : "memory");
}
HD_DEVICE void read_written(u32& to, const u32* from) {
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(to) : "l"(from) : "memory");
}
HD_DEVICE void read_written(u64& to, const u64* from) {
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(to) : "l"(from) : "memory");
}
// Counts this block in. Returns the number of blocks that were counted before.
HD_DEVICE u32 count_in(u32* counter) {
  u32 before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(counter) : "memory");
  return before;
}

#else

template <class T>
HD_DEVICE void read_written(T& to, const T* from) {
  to = *from;
}
HD_DEVICE u32 count_in(u32* counter) { return __atomic_fetch_add(counter, 1u, __ATOMIC_ACQ_REL); }

#endif

// A double is read as one word: putting it together from two words would wait for both.
template <int bytes>
struct WrittenWord {
  using type = typename Word<bytes>::type;
};
template <>
struct WrittenWord<8> {
  using type = u64;
};

// Reads a value that another block may have written, in words of its alignment.
template <class M>
HD_DEVICE M written(const M* from) {
  using W = typename WrittenWord<(int)alignof(M)>::type;
  constexpr int words = sizeof(M) / sizeof(W);
  W word[words];
  HD_UNROLL
  for (int i = 0; i < words; ++i) read_written(word[i], reinterpret_cast<const W*>(from) + i);
  M m;
  copy_bytes(&m, word, sizeof(M));
  return m;
}

}  // namespace hd
