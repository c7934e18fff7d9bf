#pragma once
// Stable orders, and what is combined in an order. A stable order is unique, so each execution finds it in its own way.
namespace hd {

// Unsigned numbers in the order of the elements: -0 equals 0, nan is behind everything.
HD_DEVICE u32 sort_key(float x) {
  const u32 word = bits<u32>(x == 0.0f ? 0.0f : x);
  return x != x ? 0xffffffffu : (word >> 31) != 0 ? ~word : word | 0x80000000u;
}
HD_DEVICE u64 sort_key(double x) {
  const u64 word = bits<u64>(x == 0.0 ? 0.0 : x);
  return x != x ? ~u64(0) : (word >> 63) != 0 ? ~word : word | (u64(1) << 63);
}
HD_DEVICE u32 sort_key(half x) { return sort_key((float)x); }
HD_DEVICE u32 sort_key(bf16 x) { return sort_key((float)x); }
HD_DEVICE u32 sort_key(int x) { return (u32)x ^ 0x80000000u; }
HD_DEVICE u32 sort_key(i16 x) { return sort_key((int)x); }
HD_DEVICE u32 sort_key(i8 x) { return sort_key((int)x); }
HD_DEVICE u64 sort_key(i64 x) { return (u64)x ^ (u64(1) << 63); }
HD_DEVICE u32 sort_key(u32 x) { return x; }
HD_DEVICE u32 sort_key(u16 x) { return x; }
HD_DEVICE u32 sort_key(u8 x) { return x; }
HD_DEVICE u64 sort_key(u64 x) { return x; }
template <bool descending, class S>
HD_DEVICE auto key_at(const S* x, int i) {
  const auto key = sort_key(x[i]);
  return descending ? ~key : key;
}

// The first place of [low, high) where `before` does not hold, or high: it holds up to there.
template <class Before>
HD_DEVICE int partition_point(int low, int high, const Before& before) {
  while (low < high) {
    const int half_way = low + (high - low) / 2;
    const bool behind = before(half_way);
    low = behind ? half_way + 1 : low;
    high = behind ? high : half_way;
  }
  return low;
}

HD_DEVICE void swap(int*& a, int*& b) {
  int* const before = a;
  a = b;
  b = before;
}

#if defined(HD_CUDA)

// How many elements of a row come before each of `items` neighbours, which are a warp's, is their place: all keys pass
// through shared memory, and lanes share what is compared. Of equals those before come first.
template <int n, bool descending, int items, class S>
HD_DEVICE void count_before(const S* x, int first, int (&place)[items]) {
  using Key = decltype(key_at<descending>(x, 0));
  constexpr int chunk = n < 2048 ? n : 2048;
  __shared__ Key keys[chunk];
  const int lane = thread() & 31;
  Key mine[items];
  Sum<int> before[items];
  HD_UNROLL
  for (int e = 0; e < items; ++e) mine[e] = key_at<descending>(x, least(first + e, n - 1));
  for (int begin = 0; begin < n; begin += chunk) {
    const int count = least(chunk, n - begin), middle = first < begin ? 0 : least(first - begin, count);
    barrier();  // the former keys have been read
    for (int i = thread(); i < count; i += threads()) keys[i] = key_at<descending>(x, begin + i);
    barrier();
    for (int i = lane; i < middle; i += 32) HD_UNROLL
      for (int e = 0; e < items; ++e) before[e].value += keys[i] <= mine[e] ? 1 : 0;
    for (int i = middle + lane; i < count; i += 32) HD_UNROLL
      for (int e = 0; e < items; ++e) before[e].value += keys[i] < mine[e] ? 1 : 0;
  }
  HD_UNROLL
  for (int e = 0; e < items; ++e) {
    place[e] = merge_lanes<1>(before[e]).value;
    HD_UNROLL
    for (int f = 0; f < e; ++f) place[e] += mine[f] == mine[e] ? 1 : 0;
  }
}

// Any number of blocks, each for some neighbours of a row. The work grows with the square of n, and no step waits for another.
template <i64 rows, int n, bool descending, class S>
HD_DEVICE void argsort_by_counts(const S* x, int* order, S* sorted) {
  constexpr int items = 4, of_block = 4 * items, block_of_threads = 128, groups = (n + of_block - 1) / of_block;
  HD_ROWS(i64, group, rows * groups, block_of_threads) {
    const i64 row = group / groups * n;
    const int first = (int)(group % groups) * of_block + (thread() >> 5) * items, lane = thread() & 31;
    int place[items], mine = 0;
    count_before<n, descending>(x + row, first, place);
    HD_UNROLL
    for (int e = 0; e < items; ++e) mine = lane == e ? place[e] : mine;
    if (lane < items && first + lane < n) {
      order[row + mine] = first + lane;
      sorted[row + mine] = x[row + first + lane];
    }
  }
}

// Merges runs of 1, 2, 4 ... elements: each finds its place in the merged run by how many of the other run come before
// it. One block; `scratch` holds n numbers.
template <int n, bool descending, class S>
HD_DEVICE void argsort_row(const S* x, int* order, int* scratch) {
  int levels = 0;
  for (i64 width = 1; width < n; width *= 2) ++levels;
  int *from = levels % 2 == 0 ? order : scratch, *to = levels % 2 == 0 ? scratch : order;
  for (int i = thread(); i < n; i += threads()) from[i] = i;
  barrier();
  for (i64 width = 1; width < n; width *= 2) {
    for (int i = thread(); i < n; i += threads()) {
      const int run = (int)(i / (2 * width) * (2 * width)), middle = (int)least<i64>(run + width, n);
      const bool left = i < middle;
      const int begin = left ? middle : run, end = left ? (int)least<i64>(run + 2 * width, n) : middle;
      const int mine = from[i];
      const auto key = key_at<descending>(x, mine);
      const int place = partition_point(begin, end, [&](int k) {
        const auto other = key_at<descending>(x, from[k]);
        return left ? other < key : other <= key;
      });
      to[run + (i - (left ? run : middle)) + (place - begin)] = mine;
    }
    barrier();
    swap(from, to);
  }
}

#else

// Digit by digit from the lowest, each pass stable; a pass in which all have one digit is left out.
template <int n, bool descending, class S>
HD_DEVICE void argsort_row(const S* x, int* order, int* scratch) {
  constexpr int kDigits = 256;
  int *from = order, *to = scratch;
  for (int i = 0; i < n; ++i) from[i] = i;
  for (u32 shift = 0; shift < 8 * sizeof(sort_key(x[0])); shift += 8) {
    int first[kDigits] = {};
    for (int i = 0; i < n; ++i) ++first[(key_at<descending>(x, i) >> shift) & 255u];
    if (first[(key_at<descending>(x, 0) >> shift) & 255u] == n) continue;
    for (int digit = 0, sum = 0; digit < kDigits; ++digit) {
      const int count = first[digit];
      first[digit] = sum;
      sum += count;
    }
    for (int i = 0; i < n; ++i) to[first[(key_at<descending>(x, from[i]) >> shift) & 255u]++] = from[i];
    swap(from, to);
  }
  if (from != order)
    for (int i = 0; i < n; ++i) order[i] = from[i];
}

#endif

// For each row of n elements the places of the smallest, the next, and so on; and the elements in this order.
// `counts`: a GPU finds places by counting.
template <i64 rows, int n, bool descending, bool counts, class S>
HD_DEVICE void argsort(const S* x, int* order, S* sorted, void* scratch) {
#if defined(HD_CUDA)
  if constexpr (counts) {
    argsort_by_counts<rows, n, descending>(x, order, sorted);
    return;
  }
#endif
  constexpr int block_of_threads = 1024;  // all of a block's: a team of more than a warp is the whole block
  HD_ROWS(i64, row, rows, block_of_threads) {
    argsort_row<n, descending>(x + row * n, order + row * n, (int*)scratch + row * n);
    barrier();
    for (int i = thread(); i < n; i += threads()) sorted[row * n + i] = x[row * n + order[row * n + i]];
  }
}

// The last one added.
template <class A>
struct Last {
  A value;
  HD_DEVICE void add(A x) { value = x; }
};

// Whether an index is below a row, which is not negative: indices of 64 unsigned bits may be beyond all rows.
template <class I>
HD_DEVICE bool is_below(I index, i64 row) {
  return index < I(0) || (u64)index < (u64)row;
}

// Rows of x, each combined with the updates whose index it is, in the order of the updates. `sorted` are the indices in
// a stable order, `order` the places they come from; a place that no update has is left out. `team` lanes share a row.
template <template <class> class Monoid, class Index, i64 rows, int columns, int n, int team, class S, class I>
HD_DEVICE void scatter_rows(const S* x, const I* sorted, const int* order, const S* updates, S* y) {
  using M = Monoid<Compute<S>>;
  const auto first_of = [&](i64 row) { return partition_point(0, n, [&](int i) { return is_below(sorted[i], row); }); };
#if defined(HD_CUDA)
  HD_ROWS(Index, row, rows, team) {
    const int begin = first_of(row);
    for (int column = lane_of(team); column < columns; column += team) {
      M sum;
      sum.value = (Compute<S>)x[(i64)row * columns + column];
      for (int i = begin; i < n && (i64)sorted[i] == (i64)row; ++i)
        if (const int place = order[i]; inside(place, n)) sum.add((Compute<S>)updates[(i64)place * columns + column]);
      y[(i64)row * columns + column] = (S)sum.value;
    }
  }
#else
  constexpr int kChunk = 64;
  int begin = -1;
  HD_ROWS(Index, row, rows, 1) {
    if (begin < 0) begin = first_of(row);
    int end = begin;
    while (end < n && (i64)sorted[end] == (i64)row) ++end;
    for (int from = 0; from < columns; from += kChunk) {
      const int width = least(kChunk, columns - from);
      M sum[kChunk];
      for (int column = 0; column < width; ++column) sum[column].value = (Compute<S>)x[(i64)row * columns + from + column];
      for (int i = begin; i < end; ++i) {
        const int place = order[i];
        if (!inside(place, n)) continue;
        for (int column = 0; column < width; ++column)
          sum[column].add((Compute<S>)updates[(i64)place * columns + from + column]);
      }
      for (int column = 0; column < width; ++column) y[(i64)row * columns + from + column] = (S)sum[column].value;
    }
    begin = end;
  }
#endif
}

// The same where y lies over x: only the rows that an update has are read and written. A row belongs to whoever has the
// first of its updates, so that each is written once, in one order.
template <template <class> class Monoid, class Index, i64 rows, int columns, int n, int team, class S, class I>
HD_DEVICE void scatter_rows_in_place(const S* x, const I* sorted, const int* order, const S* updates, S* y) {
  using M = Monoid<Compute<S>>;
#if defined(HD_CUDA)
  constexpr int kChunk = 1;
  const int lane = lane_of(team), lanes = team;
#else
  constexpr int kChunk = 64, lane = 0, lanes = 1;
#endif
  HD_ROWS(Index, first, n, team) {
    const I row = sorted[first];
    const bool begins = first == 0 || sorted[first - 1] != row;
    if (begins && inside(row, rows)) {
      const i64 at = (i64)row * columns;
      int end = (int)first + 1;
      while (end < n && sorted[end] == row) ++end;
      for (int from = lane * kChunk; from < columns; from += lanes * kChunk) {
        const int width = least(kChunk, columns - from);
        M sum[kChunk];
        for (int column = 0; column < width; ++column) sum[column].value = (Compute<S>)x[at + from + column];
        for (int i = (int)first; i < end; ++i) {
          const int place = order[i];
          if (!inside(place, n)) continue;
          for (int column = 0; column < width; ++column)
            sum[column].add((Compute<S>)updates[(i64)place * columns + from + column]);
        }
        for (int column = 0; column < width; ++column) y[at + from + column] = (S)sum[column].value;
      }
    }
  }
}

}  // namespace hd
