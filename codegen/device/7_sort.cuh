#pragma once
// Stable sorts, and updates of rows in a sorted order. A stable order is unique, so each target may use another
// algorithm.
namespace hd {

// Unsigned keys in the order of the elements: -0 equals 0, and nan comes last.
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

// Whether a comes before b. Equal elements: false.
template <bool descending, class S>
HD_DEVICE bool comes_before(S a, S b) {
  const auto x = (Compute<S>)(descending ? b : a), y = (Compute<S>)(descending ? a : b);
  return x < y || (y != y && x == x);
}

// The first position of [low, high) at which `before` does not hold, or high. `before` must hold up to there and not
// after.
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

#if defined(HD_CUDA)

// Finds the sorted positions of `items` neighbouring elements of a run. A warp takes the elements; an element's
// position is the number of elements that come before it. All keys pass through shared memory, and the lanes share the
// comparisons. Among equal elements the earlier one comes first. A run has `length` elements, at most n.
template <int n, bool descending, int items, class S>
HD_DEVICE void count_before(const S* x, int length, int first, int (&place)[items]) {
  using Key = decltype(key_at<descending>(x, 0));
  constexpr int chunk = n < 2048 ? n : 2048;
  __shared__ Key keys[chunk];
  const int lane = thread() & 31;
  Key mine[items];
  Sum<int> before[items];
  HD_UNROLL
  for (int e = 0; e < items; ++e) mine[e] = key_at<descending>(x, least(first + e, length - 1));
  for (int begin = 0; begin < length; begin += chunk) {
    const int count = least(chunk, length - begin), middle = first < begin ? 0 : least(first - begin, count);
    barrier();  // the previous keys have been read
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

// Any number of blocks; each takes some neighbours of a run. The work grows with the square of the run's length, and no
// step waits for another.
template <i64 rows, int n, int run, bool descending, class S>
HD_DEVICE void argsort_runs(const S* x, int* order, S* sorted, int*) {
  constexpr int items = 4, of_block = 4 * items, block_of_threads = 128, runs = (n - 1) / run + 1;
  constexpr int groups = (run + of_block - 1) / of_block;
  HD_ROWS(i64, group, rows * runs * groups, block_of_threads) {
    const int begin = (int)(group / groups % runs) * run, length = n % run == 0 ? run : least(run, n - begin);
    const i64 at = group / groups / runs * n + begin;
    const int first = (int)(group % groups) * of_block + (thread() >> 5) * items, lane = thread() & 31;
    int place[items], mine = 0;
    if (length == run)  // a number that the compiler knows
      count_before<run, descending>(x + at, run, first, place);
    else
      count_before<run, descending>(x + at, length, first, place);
    HD_UNROLL
    for (int e = 0; e < items; ++e) mine = lane == e ? place[e] : mine;
    if (lane < items && first + lane < length) {
      order[at + mine] = begin + first + lane;
      sorted[at + mine] = x[at + first + lane];
    }
  }
}

#else

HD_DEVICE void swap(int*& a, int*& b) {
  int* const before = a;
  a = b;
  b = before;
}

// Radix sort from the lowest digit on; each pass is stable. A pass in which all keys have the same digit is left out.
template <bool descending, class S>
HD_DEVICE void argsort_run(const S* x, int n, int* order, int* scratch) {
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

template <i64 rows, int n, int run, bool descending, class S>
HD_DEVICE void argsort_runs(const S* x, int* order, S* sorted, int* scratch) {
  constexpr int runs = (n - 1) / run + 1;
  HD_ROWS(i64, one, rows * runs, 1) {
    const int begin = (int)(one % runs) * run, length = least(run, n - begin);
    const i64 at = one / runs * n + begin;
    argsort_run<descending>(x + at, length, order + at, scratch + at);
    for (int i = 0; i < length; ++i) sorted[at + i] = x[at + order[at + i]];
    for (int i = 0; i < length; ++i) order[at + i] += begin;
  }
}

#endif

// Sorts each run of rows of n elements. `order` gets the positions in the row of the smallest element, the next one,
// and so on; `sorted` gets the elements in this order.
template <i64 rows, int n, int run, bool descending, class S>
HD_DEVICE void argsort(const S* x, int* order, S* sorted, void* scratch) {
  argsort_runs<rows, n, run, descending>(x, order, sorted, (int*)scratch);
}

// Merges sorted runs: each `ways` neighbouring runs of `run` elements (a power of two) become one. An element's
// position is the number of elements before it in its own run and in the others; the searches of the other runs are
// interleaved. Among equal elements those of earlier runs come first.
template <class Index, i64 rows, int n, int run, int ways, bool descending, class S>
HD_DEVICE void merge_runs(const int* order, const S* sorted, int* merged_order, S* merged) {
  HD_ROWS(Index, element, rows * n, 1) {
    const int place = (int)(element % n), mine = place / run % ways, group = place / run / ways;
    const Index row = element - place;
    const i64 begin = (i64)group * ways * run;
    const S own = sorted[element];
    int length[ways], found[ways] = {}, to = (int)begin + place % run;
    HD_UNROLL
    for (int way = 0; way < ways; ++way) {
      const i64 from = begin + (i64)way * run;
      length[way] = way == mine ? 0 : (int)least<i64>(run, n - from);  // behind the row less than nothing
    }
    for (int step = run; step > 0; step /= 2) HD_UNROLL
      for (int way = 0; way < ways; ++way) {
        const int next = found[way] + step;
        if (next <= length[way]) {
          const S other = sorted[row + (Index)begin + way * run + next - 1];
          const bool before = way < mine ? !comes_before<descending>(own, other) : comes_before<descending>(other, own);
          found[way] = before ? next : found[way];
        }
      }
    HD_UNROLL
    for (int way = 0; way < ways; ++way) to += found[way];
    merged_order[row + to] = order[element];
    merged[row + to] = own;
  }
}

// A combination that keeps the last element added.
template <class A>
struct Last {
  A value;
  HD_DEVICE void add(A x) { value = x; }
};

// Whether an index is less than `row`, which is not negative. Indices of type u64 may be larger than all rows.
template <class I>
HD_DEVICE bool is_below(I index, i64 row) {
  return index < I(0) || (u64)index < (u64)row;
}

// Combines `width` neighbouring elements of a row with `count` updates, one update after the other.
template <int chunk, int n, class Sums, class S>
HD_DEVICE void combine_updates(Sums sums, const S* x, const int* order, int count, const S* updates, i64 columns, S* y, int width) {
  for (int column = 0; column < width; ++column) sums.start(column, (Compute<S>)x[column]);
  for (int i = 0; i < count; ++i) {
    if (i % kRun == kRun - 1) sums.end_run();
    const int place = order[i];
    if (!inside(place, n)) continue;
    for (int column = 0; column < width; ++column) sums.add(column, (Compute<S>)updates[(i64)place * columns + column]);
  }
  for (int column = 0; column < width; ++column) y[column] = (S)sums.so_far(column);
}
template <class M, int chunk, int n, class S>
HD_DEVICE void combine_updates(const S* x, const int* order, int count, const S* updates, i64 columns, S* y, int width) {
#if !defined(HD_CUDA)
  // A few updates do not need the further accumulators of long sums.
  if (count <= kRun) return combine_updates<chunk, n>(InOrder<M, chunk, false>(), x, order, count, updates, columns, y, width);
#endif
  combine_updates<chunk, n>(SumInOrder<M, chunk, n>(), x, order, count, updates, columns, y, width);
}

// Combines each row of x with the updates whose index is that row, in the order of the updates. `sorted` are the
// indices in stable order and `order` their original positions; a position outside of the updates is ignored. `team`
// lanes share a row.
template <template <class> class Monoid, class Index, i64 rows, Index columns, int n, int team, class S, class I>
HD_DEVICE void scatter_rows(const S* x, const I* sorted, const int* order, const S* updates, S* y) {
  using M = Monoid<Compute<S>>;
  const auto first_of = [&](i64 row) { return partition_point(0, n, [&](int i) { return is_below(sorted[i], row); }); };
#if defined(HD_CUDA)
  HD_ROWS(Index, row, rows, team) {
    const int begin = first_of(row);
    for (Index column = lane_of(team); column < columns; column += team) {
      SumInOrder<M, 1, n> sum;
      sum.start(0, (Compute<S>)x[(i64)row * columns + column]);
      for (int i = begin; i < n && (i64)sorted[i] == (i64)row; ++i) {
        if (const int place = order[i]; inside(place, n)) sum.add(0, (Compute<S>)updates[(i64)place * columns + column]);
        if ((i - begin) % kRun == kRun - 1) sum.end_run();
      }
      y[(i64)row * columns + column] = (S)sum.so_far(0);
    }
  }
#else
  constexpr int kChunk = (int)least<Index>(64, columns > 0 ? columns : 1);
  int begin = -1;
  HD_ROWS(Index, row, rows, 1) {
    if (begin < 0) begin = first_of(row);
    int end = begin;
    while (end < n && (i64)sorted[end] == (i64)row) ++end;
    for (Index from = 0; from < columns; from += kChunk) {
      const int width = (int)least<Index>(kChunk, columns - from);
      combine_updates<M, kChunk, n>(x + (i64)row * columns + from, order + begin, end - begin, updates + from, columns,
                                    y + (i64)row * columns + from, width);
    }
    begin = end;
  }
#endif
}

// The same in place, with y over x: only rows with updates are read and written. The team with the first update of a
// row takes the row, so that each row is written once.
template <template <class> class Monoid, class Index, i64 rows, Index columns, int n, int team, class S, class I>
HD_DEVICE void scatter_rows_in_place(const S* x, const I* sorted, const int* order, const S* updates, S* y) {
  using M = Monoid<Compute<S>>;
#if defined(HD_CUDA)
  constexpr int kChunk = 1;
  const int lane = lane_of(team), lanes = team;
#else
  constexpr int kChunk = (int)least<Index>(64, columns > 0 ? columns : 1), lane = 0, lanes = 1;
#endif
  HD_ROWS(Index, first, n, team) {
    const I row = sorted[first];
    const bool begins = first == 0 || sorted[first - 1] != row;
    if (begins && inside(row, rows)) {
      const i64 at = (i64)row * columns;
      int end = (int)first + 1;
      while (end < n && sorted[end] == row) ++end;
      for (Index from = lane * kChunk; from < columns; from += lanes * kChunk) {
        const int width = (int)least<Index>(kChunk, columns - from);
        combine_updates<M, kChunk, n>(x + at + from, order + first, end - (int)first, updates + from, columns, y + at + from,
                                      width);
      }
    }
  }
}

}  // namespace hd
