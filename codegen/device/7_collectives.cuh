#pragma once
// Reductions over a team, a block, and all blocks. The order in which elements are combined depends on the length and
// the type alone, never on the number of workers. No floating-point number is added atomically.
namespace hd {

// The accumulators of one thread over rows of `columns`: one on a GPU, one per lane on the host.
template <class M, i64 columns>
struct Accumulator {
#if defined(HD_CUDA)
  M lane[1];
#else
  M lane[lanes(columns)];
#endif
  HD_DEVICE M& operator[](int i) { return lane[i]; }
};

// This thread's part of a row (on the host: the whole row), kept in registers from one pass to the next.
template <class S, int columns, int team, int width>
struct Row {
#if defined(HD_CUDA)
  Packet<S, width> slot[(columns + team * width - 1) / (team * width)];
#else
  Packet<S, width> slot[columns];
#endif
  HD_DEVICE Packet<S, width>& operator[](int i) { return slot[i]; }
};

// The elements of a batch of `count` rows that a thread loads: a packet of each row; on the host all elements of one
// row.
template <class S, int columns, int width, int count>
struct Batch {
#if defined(HD_CUDA)
  Packet<S, width> row[count];
  HD_DEVICE Packet<S, width>& at(int i, i64) { return row[i]; }
#else
  Packet<S, width> element[columns];
  HD_DEVICE Packet<S, width>& at(int, i64 column) { return element[column]; }
#endif
};

// One accumulator per column; on a GPU for this thread's columns only.
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

// Merges the accumulators of lanes whose numbers differ by multiples of `nearest`. All of these lanes get the result.
template <int nearest, class M>
HD_DEVICE M merge_lanes(M m) {
  HD_UNROLL
  for (int distance = nearest; distance < 32; distance *= 2) m.merge(shuffle(m, distance, 0xffffffffu));
  return m;
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
    barrier();  // the previous result has been read
    if ((thread() & 31) == 0) warp[thread() >> 5] = m;
    barrier();
    m = warp[0];
    for (int i = 1; i < threads() / 32; ++i) m.merge(warp[i]);
  }
  return m;
}

// Writes this block's sums over its teams to its part of the partial results. Shuffles combine the teams of a warp;
// then the warps are combined in shared memory, in order.
template <class M, int columns, int team, int width>
HD_DEVICE void put_columns(M* partials, ColumnResults<M, columns, team, width>& mine) {
  M* to = partials + (i64)block() * columns;
  if constexpr (team > 32) {
    HD_IN_REGISTERS
    HD_COLUMNS(int, column, slot, columns, team, width) {
      HD_EACH(k, width) to[column + k] = mine[slot][k];
    }
  } else {
    __shared__ M sum[columns];
    HD_UNROLL
    for (int slot = 0; slot < packets<int>(columns, team * width); ++slot)
      HD_EACH(k, width) mine[slot][k] = merge_lanes<team>(mine[slot][k]);
    barrier();  // a former result has been read
    if (thread() < team) {
      HD_IN_REGISTERS
      HD_COLUMNS(int, column, slot, columns, team, width) HD_EACH(k, width) sum[column + k] = mine[slot][k];
    }
    for (int warp = 1; warp < threads() / 32; ++warp) {
      barrier();
      if (thread() / 32 != warp || thread() % 32 >= team) continue;
      HD_IN_REGISTERS
      HD_COLUMNS(int, column, slot, columns, team, width) {
        HD_EACH(k, width) {
          mine[slot][k].merge(sum[column + k]);
          sum[column + k] = mine[slot][k];
        }
      }
    }
    barrier();
    for (int column = thread(); column < columns; column += threads()) to[column] = sum[column];
  }
}

template <int team, class M, i64 columns>
HD_DEVICE void put_total(M* partials, const Accumulator<M, columns>& mine) {
  M m = merge_lanes<1>(mine.lane[0]);
  __shared__ M warp[32];
  barrier();
  if ((thread() & 31) == 0) warp[thread() >> 5] = m;
  barrier();
  if (thread() == 0) {
    for (int i = 1; i < threads() / 32; ++i) m.merge(warp[i]);
    partials[block()] = m;
  }
}

// True in the block that arrives last of `blocks`; what the others have written is then visible. Resets the counter to
// zero.
HD_DEVICE bool last_of(u32* counter, int blocks) {
  __shared__ bool last;
  barrier();
  if (thread() == 0) {
    last = count_in(counter) == (u32)blocks - 1;
    if (last) *counter = 0;
  }
  barrier();
  return last;
}

// Merges the first `count` accumulators into the first one, pairwise as a tree.
template <int most, class M>
HD_DEVICE void merge_neighbours(M (&m)[most], int count) {
  HD_UNROLL
  for (int apart = 1; apart < most; apart *= 2) HD_UNROLL
    for (int p = 0; p + apart < most; p += 2 * apart)
      if (p + apart < count) m[p].merge(m[p + apart]);
}

// Merges `count` partial results, `step` apart, in order. Several loads are in flight at once.
template <int at_once, class M>
HD_DEVICE M merge_written(const M* from, int step, int count) {
  M m;
  for (int i = 0; i < count; i += at_once) {
    M next[at_once];
    HD_UNROLL
    for (int p = 0; p < at_once; ++p)
      if (i + p < count) next[p] = written(from + (i64)(i + p) * step);
    HD_UNROLL
    for (int p = 0; p < at_once; ++p)
      if (i + p < count) m.merge(next[p]);
  }
  return m;
}

// Adds up the column sums of `count` blocks, `step` apart, into those of the first block. `shares` lanes of a warp
// share a column: each lane takes every `shares`-th block. It takes `abreast` columns at a time, and loads the sums of
// `at_once` blocks for all of them before it adds.
template <int shares, int at_once, int abreast, class M>
HD_DEVICE void merge_blocks(M* partials, int columns, int step, int count) {
  constexpr int together = 32 / shares;
  const int share = thread() % 32 / together, apart = threads() / 32 * together;
  const int mine = (count - share + shares - 1) / shares;
  for (int first = thread() / 32 * together; first < columns; first += apart * abreast) {
    const int column = first + thread() % together;
    M sum[abreast];
    for (int i = 0; i < mine && column < columns; i += at_once) {
      // Beyond the last block or column, the lane's last block or first column is loaded again. With branches instead,
      // the loads would wait for one another.
      M next[abreast][at_once];
      HD_UNROLL
      for (int p = 0; p < at_once; ++p) {
        const M* from = partials + (i64)(least(i + p, mine - 1) * shares + share) * step * columns + column;
        HD_UNROLL
        for (int a = 0; a < abreast; ++a) next[a][p] = written(from + (column + a * apart < columns ? a * apart : 0));
      }
      HD_UNROLL
      for (int a = 0; a < abreast; ++a) {
        merge_neighbours(next[a], mine - i);
        sum[a].merge(next[a][0]);
      }
    }
    HD_UNROLL
    for (int a = 0; a < abreast; ++a) {
      const M m = merge_lanes<together>(sum[a]);
      if (share == 0 && column + a * apart < columns) partials[column + a * apart] = m;
    }
  }
  barrier();
}

// The sums of all blocks at once,
template <int shares, int at_once, int abreast, class M>
HD_DEVICE void add_blocks(M* partials, int columns) {
  merge_blocks<shares, at_once, abreast>(partials, columns, 1, blocks());
}
// or in two steps: the sums of this block's group of `gather` blocks, then the sums of the groups.
template <int gather, int shares, int at_once, int abreast, class M>
HD_DEVICE void add_group(M* partials, int columns) {
  const int first = block() / gather * gather;
  merge_blocks<shares, at_once, abreast>(partials + (i64)first * columns, columns, 1, least(gather, blocks() - first));
}
template <int gather, int shares, int at_once, int abreast, class M>
HD_DEVICE void add_groups(M* partials, int columns) {
  merge_blocks<shares, at_once, abreast>(partials, columns, gather, (blocks() + gather - 1) / gather);
}
template <class M>
HD_DEVICE M get_column(const M* partials, int, int column) {
  return partials[column];
}
// Each warp adds up all blocks' totals.
template <class M>
HD_DEVICE M get_total(M* partials) {
  const int lane = thread() % 32;
  return merge_lanes<1>(merge_written<8>(partials + lane, 32, (blocks() - lane + 31) / 32));
}

#else

template <int, class M>
HD_DEVICE M merge_lanes(const M& m) {
  return m;
}

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

HD_DEVICE bool last_of(u32* counter, int blocks) {
  if (count_in(counter) != (u32)blocks - 1) return false;
  *counter = 0;
  return true;
}

// Adds the results of `count` blocks, `step` apart, to those of the first, pairwise as a tree.
template <class M>
HD_DEVICE void merge_blocks(M* partials, int columns, int step, int count) {
  for (int apart = 1; apart < count; apart *= 2)
    for (int b = 0; b + apart < count; b += 2 * apart) {
      M *to = partials + (i64)b * step * columns, *from = to + (i64)apart * step * columns;
      HD_IVDEP for (int column = 0; column < columns; ++column) to[column].merge(from[column]);
    }
}
template <int, int, int, class M>
HD_DEVICE void add_blocks(M* partials, int columns) {
  merge_blocks(partials, columns, 1, blocks());
}
template <int gather, int, int, int, class M>
HD_DEVICE void add_group(M* partials, int columns) {
  const int first = block() / gather * gather;
  merge_blocks(partials + (i64)first * columns, columns, 1, least(gather, blocks() - first));
}
template <int gather, int, int, int, class M>
HD_DEVICE void add_groups(M* partials, int columns) {
  merge_blocks(partials, columns, gather, (blocks() + gather - 1) / gather);
}
template <class M>
HD_DEVICE M get_column(const M* partials, int, int column) {
  return partials[column];
}

template <class M>
HD_DEVICE M get_total(M* partials) {
  add_blocks<1, 1, 1>(partials, 1);
  return partials[0];
}

#endif

HD_DEVICE bool last_block(u32* counter) { return last_of(counter, blocks()); }
// For blocks that meet in groups of `gather`. last_of_group: true in the block that arrives last of its group.
// last_group: of these blocks, true in the one that arrives last. The counter of the groups comes first, then a counter
// for each group.
template <int gather>
HD_DEVICE bool last_of_group(u32* counter) {
  const int group = block() / gather;
  return last_of(counter + 1 + group, least(gather, blocks() - group * gather));
}
template <int gather>
HD_DEVICE bool last_group(u32* counter) {
  return last_of(counter, (blocks() + gather - 1) / gather);
}
// The address of a reduction's partial results in the launch's scratch.
template <class M>
HD_DEVICE M* partials_at(void* scratch, i64 bytes) {
  return reinterpret_cast<M*>(static_cast<char*>(scratch) + bytes);
}

}  // namespace hd
