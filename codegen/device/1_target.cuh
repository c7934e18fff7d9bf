#pragma once
// The primitives on which kernel text is built, for each target. -DHD_CUDA: a GPU. -DHD_HOST: the host, where a block
// is one thread: barriers vanish, a team's loop is a plain loop that the compiler vectorises, and each worker runs some
// of the blocks. The preamble includes no other header.
namespace hd {
using u32 = unsigned;
using u64 = unsigned long long;
using i64 = long long;
using i8 = signed char;
using u8 = unsigned char;
using i16 = short;
using u16 = unsigned short;
}  // namespace hd

#if defined(HD_CUDA)

#define HD_DEVICE __device__ __forceinline__
#if defined(HD_PERSISTENT)
#define HD_KERNEL(name, threads) HD_DEVICE void name  // a persistent kernel calls it (9_persistent.cuh)
#else
// At least one block per multiprocessor: without this number ptxas aims at many blocks, and spills registers for them.
#define HD_KERNEL(name, threads) extern "C" __global__ void __launch_bounds__(threads, 1) name
#endif
#define HD_HOST_ENTRY(name, arguments)
#define HD_TABLE static __device__  // of constants
#define HD_UNROLL _Pragma("unroll")
#define HD_LOOP
#define HD_IVDEP
#define HD_WIDTH(width) (width)  // elements that a thread takes at once

namespace hd {
#if defined(HD_PERSISTENT)
struct Launched {
  int block, blocks;
};
static __shared__ Launched launched;
HD_DEVICE int block() { return launched.block; }
HD_DEVICE int blocks() { return launched.blocks; }
#else
HD_DEVICE int block() { return (int)blockIdx.x; }
HD_DEVICE int blocks() { return (int)gridDim.x; }
#endif
HD_DEVICE int thread() { return (int)threadIdx.x; }
HD_DEVICE int threads() { return (int)blockDim.x; }
HD_DEVICE void barrier() { __syncthreads(); }
HD_DEVICE void copy_bytes(void* to, const void* from, u64 bytes) { ::memcpy(to, from, bytes); }
// The dynamic shared memory of a block; the launch sets its size. Arrays of the collectives are separate.
extern __shared__ __align__(128) unsigned char shared_bytes[];
template <class T>
HD_DEVICE T& in_shared(u64 first_byte) {
  return *reinterpret_cast<T*>(shared_bytes + first_byte);
}
}  // namespace hd

#else

#define HD_DEVICE inline __attribute__((always_inline))
#define HD_KERNEL(name, threads) static __attribute__((noinline)) void name
// The function that the runtime calls: arguments by position, the block to run, and the number of blocks.
#define HD_HOST_ENTRY(name, arguments)                                                  \
  extern "C" __attribute__((visibility("default"))) void name##_host(void* const* args, \
                                                                     int block, int blocks) { \
    hd::grid = {block, blocks};                                                         \
    hd::call<name>(args, hd::Count<arguments>());                                       \
  }
#define HD_WIDTH(width) 1
#define HD_TABLE static
#define __restrict__ __restrict
#if defined(__clang__)
#define HD_UNROLL _Pragma("clang loop unroll(full)")
#define HD_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#define HD_LOOP
#else
#define HD_UNROLL _Pragma("GCC unroll 32")
#define HD_IVDEP _Pragma("GCC ivdep")
// A short loop that stays a loop. GCC 12 unrolls it completely and then vectorises the loop around it, wrongly in two shapes: a
// guarded read two columns wide loses rows, and a sum in order over a reversed axis takes other elements.
#define HD_LOOP _Pragma("GCC unroll 1")
// GCC's elimination of partial redundancies turns dependent selections into branches, for example relu of the largest
// element of a window without padding. Loops with branches are not vectorised (ten times slower).
#pragma GCC optimize("no-tree-pre")
// GCC's choice of induction variables may address a result through an operand that is read with a stride and mirrored
// (x[c * 2] | x[6 - c * 2]). Then GCC believes that the kernel writes nothing, and drops its call. Without it steps are
// as fast.
#pragma GCC optimize("no-ivopts")
#endif

namespace hd {
struct Grid {
  int block, blocks;
};
static thread_local Grid grid;
HD_DEVICE int block() { return grid.block; }
HD_DEVICE int blocks() { return grid.blocks; }
HD_DEVICE int thread() { return 0; }
HD_DEVICE int threads() { return 1; }
HD_DEVICE void barrier() {}
HD_DEVICE void copy_bytes(void* to, const void* from, u64 bytes) { __builtin_memcpy(to, from, bytes); }

template <int... I>
struct Indices {};
template <int N, int... I>
struct CountFrom : CountFrom<N - 1, N - 1, I...> {};
template <int... I>
struct CountFrom<0, I...> : Indices<I...> {};
template <int N>
using Count = CountFrom<N>;
// An argument that converts to any pointer type, or to the number to which it points.
struct Argument {
  void* pointer;
  template <class T>
  operator T*() const {
    return static_cast<T*>(pointer);
  }
  template <class T>
  operator T() const {
    T number;
    copy_bytes(&number, pointer, sizeof(T));
    return number;
  }
};
template <auto kernel, int... I>
HD_DEVICE void call(void* const* args, Indices<I...>) {
  kernel(Argument{args[I]}...);
}
}  // namespace hd

// The loader allocates a thread's copy of `grid` when the thread first touches it. This call does that before the first
// step.
extern "C" __attribute__((visibility("default"))) void heddle_prepare_thread() { hd::grid = {0, 1}; }

#endif

namespace hd {
template <class A, class B>
HD_DEVICE constexpr auto least(A a, B b) {
  return a < b ? a : b;
}
template <class A, class B>
HD_DEVICE A floor_div(A a, B b) {
  return a >= 0 ? a / b : -((b - 1 - a) / b);
}
template <class A, class B>
HD_DEVICE A floor_mod(A a, B b) {
  return a - floor_div(a, b) * b;
}
}  // namespace hd
