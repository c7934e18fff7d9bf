#pragma once
// Reductions over a team, a block, and all blocks. The order in which elements meet depends on the length and the type alone, never
// on the number of workers; no floating atomics.
namespace hd {

// The running results of one thread over rows of `columns`: one on a GPU, one per lane on the host.
template <class M, i64 columns>
struct Accumulator {
#if defined(HD_CUDA)
  M lane[1];
#else
  M lane[lanes(columns)];
#endif
  HD_DEVICE M& operator[](int i) { return lane[i]; }
};

// A row in this thread's registers (on the host: all of it), from one pass to the next.
template <class S, int columns, int team, int width>
struct Row {
#if defined(HD_CUDA)
  Packet<S, width> slot[(columns + team * width - 1) / (team * width)];
#else
  Packet<S, width> slot[columns];
#endif
  HD_DEVICE Packet<S, width>& operator[](int i) { return slot[i]; }
};

// One running result per column: those of this thread's columns on a GPU.
template <class M, int columns, int team, int width>
using ColumnResults = Row<M, columns, team, width>;

#if defined(HD_CUDA)

template <class M>
HD_DEVICE M shuffle(const M& m, int distance, u32 members) {
  static_assert(sizeof(M) % 4 == 0 || sizeof(M) < 4, "accumulators move in words");
  constexpr int words = (sizeof(M) + 3) / 4;
  u32 word[words] = {};
  copy_bytes(word, &m, sizeof(M));
  HD_UNROLL
  for (int i = 0; i < words; ++i) word[i] = __shfl_xor_sync(members, word[i], distance);
  M other;
  copy_bytes(&other, word, sizeof(M));
  return other;
}

// Every thread of the team gets the result.
template <int team, class M, i64 columns>
HD_DEVICE M combine(const Accumulator<M, columns>& a) {
  constexpr int width = team < 32 ? team : 32;
  const u32 members = (u32)((u64(1) << width) - 1) << (thread() & 31 & ~(width - 1));
  M m = a.lane[0];
  HD_UNROLL
  for (int distance = width / 2; distance > 0; distance >>= 1) m.merge(shuffle(m, distance, members));
  if constexpr (team > 32) {
    __shared__ M warp[32];
    barrier();  // a former result has been read
    if ((thread() & 31) == 0) warp[thread() >> 5] = m;
    barrier();
    m = warp[0];
    for (int i = 1; i < threads() / 32; ++i) m.merge(warp[i]);
  }
  return m;
}

// Reads past the first-level cache, where what another block wrote may be missing.
template <class M>
HD_DEVICE M fresh(const M* from) {
  using W = typename Word<(sizeof(M) < 4 ? (int)sizeof(M) : 4)>::type;
  constexpr int words = sizeof(M) / sizeof(W);
  static_assert(sizeof(M) % sizeof(W) == 0, "accumulators move in whole words");
  W word[words];
  HD_UNROLL
  for (int i = 0; i < words; ++i) word[i] = reinterpret_cast<const volatile W*>(from)[i];
  M m;
  copy_bytes(&m, word, sizeof(M));
  return m;
}

// This block's sums over its teams, in the order of the teams, into its part of the partial results.
template <class M, int columns, int team, int width>
HD_DEVICE void put_columns(M* partials, ColumnResults<M, columns, team, width>& mine) {
  M* to = partials + (i64)block() * columns;
  for (int turn = 0; turn < teams(team); ++turn) {
    if (turn > 0) barrier();
    if (turn != team_of(team)) continue;
    HD_IN_REGISTERS
    HD_COLUMNS(int, column, slot, columns, team, width) {
      HD_EACH(k, width) {
        M sum = mine[slot][k];
        if (turn > 0) {
          M before = fresh(to + column + k);
          before.merge(sum);
          sum = before;
        }
        to[column + k] = sum;
      }
    }
  }
}

template <int team, class M, i64 columns>
HD_DEVICE void put_total(M* partials, const Accumulator<M, columns>& mine) {
  constexpr int width = 32;
  M m = mine.lane[0];
  HD_UNROLL
  for (int distance = width / 2; distance > 0; distance >>= 1) m.merge(shuffle(m, distance, 0xffffffffu));
  __shared__ M warp[32];
  barrier();
  if ((thread() & 31) == 0) warp[thread() >> 5] = m;
  barrier();
  if (thread() == 0) {
    for (int i = 1; i < threads() / 32; ++i) m.merge(warp[i]);
    partials[block()] = m;
  }
}

// True in the block that arrives last: then all partial results are there. Leaves the counter at zero.
HD_DEVICE bool last_block(u32* counter) {
  __shared__ bool last;
  __threadfence();
  barrier();
  if (thread() == 0) {
    last = atomicAdd(counter, 1u) == (u32)blocks() - 1;
    if (last) *counter = 0;
  }
  barrier();
  __threadfence();
  return last;
}

template <class M>
HD_DEVICE M get_column(const M* partials, int columns, int column) {
  M m = fresh(partials + column);
  for (int b = 1; b < blocks(); ++b) m.merge(fresh(partials + (i64)b * columns + column));
  return m;
}
template <class M>
HD_DEVICE void add_blocks(M*, int) {}

#else

template <int team, class M, i64 columns>
HD_DEVICE M combine(const Accumulator<M, columns>& a) {
  M lane[lanes(columns)];
  for (int i = 0; i < lanes(columns); ++i) lane[i] = a.lane[i];
  for (int half = lanes(columns) / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lane[i].merge(lane[i + half]);
  return lane[0];
}

template <class M, int columns, int team, int width>
HD_DEVICE void put_columns(M* partials, ColumnResults<M, columns, team, width>& mine) {
  M* to = partials + (i64)block() * columns;
  HD_IVDEP for (int column = 0; column < columns; ++column) to[column] = mine[column][0];
}
template <int team, class M, i64 columns>
HD_DEVICE void put_total(M* partials, const Accumulator<M, columns>& mine) {
  partials[block()] = combine<team>(mine);
}

HD_DEVICE bool last_block(u32* counter) {
  if (__atomic_add_fetch(counter, 1u, __ATOMIC_ACQ_REL) != (u32)blocks()) return false;
  *counter = 0;
  return true;
}

// Adds every block's results to those of the first, in the order of the blocks.
template <class M>
HD_DEVICE void add_blocks(M* partials, int columns) {
  for (int b = 1; b < blocks(); ++b)
    HD_IVDEP for (int column = 0; column < columns; ++column) partials[column].merge(partials[(i64)b * columns + column]);
}
template <class M>
HD_DEVICE M get_column(const M* partials, int, int column) {
  return partials[column];
}

#endif

template <class M>
HD_DEVICE M get_total(M* partials) {
  add_blocks(partials, 1);
  return get_column(partials, 1, 0);
}
// Where an accumulator's partial results lie in the launch's scratch.
template <class M>
HD_DEVICE M* partials_at(void* scratch, i64 bytes) {
  return reinterpret_cast<M*>(static_cast<char*>(scratch) + bytes);
}

}  // namespace hd
