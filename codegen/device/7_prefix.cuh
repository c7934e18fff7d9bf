#pragma once
// Prefix scans: sums, products and extrema of all elements up to each element of a line. The order in which elements
// are combined depends on the length of the line alone.
namespace hd {

#if defined(HD_CUDA)

template <class M>
HD_DEVICE M from_lane_below(const M& m, int distance) {
  constexpr int words = (sizeof(M) + 3) / 4;
  u32 word[words] = {};
  copy_bytes(word, &m, sizeof(M));
  HD_UNROLL
  for (int i = 0; i < words; ++i) word[i] = __shfl_up_sync(0xffffffffu, word[i], distance);
  M other;
  copy_bytes(&other, word, sizeof(M));
  return other;
}

// Returns `carry` combined with the values of the threads before this one. Then combines `carry` with the values of all
// threads.
template <class M, class Carry>
HD_DEVICE M before_this_thread(const M& mine, Carry& carry) {
  const int lane = thread() & 31, warp = thread() >> 5;
  M up_to_here = mine;
  HD_UNROLL
  for (int distance = 1; distance < 32; distance *= 2) {
    M below = from_lane_below(up_to_here, distance);
    below.merge(up_to_here);
    if (lane >= distance) up_to_here = below;
  }
  const M below = from_lane_below(up_to_here, 1);
  __shared__ M of_warp[32];
  barrier();  // the results of the previous turn have been read
  if (lane == 31) of_warp[warp] = up_to_here;
  barrier();
  M before, in_block;
  before.value = carry.so_far(0);
  for (int w = 0; w < threads() / 32; ++w) {
    if (w == warp) before.merge(in_block);
    in_block.merge(of_warp[w]);
  }
  if (lane > 0) before.merge(below);
  carry.add(0, in_block.value);
  carry.end_run();
  return before;
}

// Scans a line with all threads of a block. Each thread takes four neighbours at once.
template <class M, class Index, Index n, bool exclusive, class S, class At>
HD_DEVICE void scan_line(const S* x, S* y, const At& at) {
  constexpr int items = 4;
  SumInOrder<M, 1, n> carry;
  for (Index start = 0; start < n; start += threads() * items) {
    const Index from = start + thread() * items;
    M mine[items], sum;
    HD_UNROLL
    for (int j = 0; j < items; ++j) {
      mine[j] = sum;
      if (from + j < n) sum.add((Compute<S>)x[at(from + j)]);
      if (!exclusive) mine[j] = sum;
    }
    const M before = before_this_thread(sum, carry);
    HD_UNROLL
    for (int j = 0; j < items; ++j) {
      M result = before;
      result.merge(mine[j]);
      if (from + j < n) y[at(from + j)] = (S)result.value;
    }
  }
}

#else

// Groups of eight elements are combined first. So only one addition per group, instead of eight, waits for the one
// before.
template <class M, class Index, Index n, bool exclusive, class S, class At>
HD_DEVICE void scan_line(const S* x, S* y, const At& at) {
  constexpr int kGroup = 8;
  SumInOrder<M, 1, n> carry;
  Index from = 0;
  for (; from + kGroup <= n; from += kGroup) {
    M group[kGroup], lower[kGroup], result[kGroup];
    HD_UNROLL
    for (int i = 0; i < kGroup; ++i) group[i].add((Compute<S>)x[at(from + i)]);
    HD_UNROLL
    for (int distance = 1; distance < kGroup; distance *= 2) {
      HD_UNROLL
      for (int i = 0; i < kGroup; ++i) lower[i] = i < distance ? M() : group[i - distance];
      HD_UNROLL
      for (int i = 0; i < kGroup; ++i) group[i].merge(lower[i]);
    }
    HD_UNROLL
    for (int i = 0; i < kGroup; ++i) {
      result[i] = exclusive ? (i == 0 ? M() : group[i - 1]) : group[i];
      result[i].add(carry.so_far(0));
    }
    HD_UNROLL
    for (int i = 0; i < kGroup; ++i) y[at(from + i)] = (S)result[i].value;
    carry.add(0, group[kGroup - 1].value);
    carry.end_run();
  }
  for (; from < n; ++from) {
    const auto before = carry.so_far(0);
    carry.add(0, (Compute<S>)x[at(from)]);
    y[at(from)] = (S)(exclusive ? before : carry.so_far(0));
  }
}

// Scans up to `most` neighbouring lines together, so that the compiler vectorises over the lines.
template <class M, int most, class Index, Index n, bool exclusive, class S, class At>
HD_DEVICE void scan_beside(const S* x, S* y, int width, const At& at) {
  SumInOrder<M, most, n> sum;
  for (Index i = 0; i < n; ++i) {
    const Index first = at(i);
    HD_IVDEP for (int k = 0; k < width; ++k) {
      const auto before = sum.so_far(k);
      sum.add(k, (Compute<S>)x[first + k]);
      y[first + k] = (S)(exclusive ? before : sum.so_far(k));
    }
    if (i % kRun == kRun - 1) sum.end_run();
  }
}

#endif

// Scans along the middle axis of [outer, n, inner]. On a GPU one thread takes a line if `team` is 1, else a whole block
// does. On the host a worker takes `beside` lines at once.
template <template <class> class Monoid, class Index, Index outer, Index n, Index inner, bool reverse, bool exclusive, int team, int beside,
          class S>
HD_DEVICE void prefix(const S* x, S* y) {
  using M = Monoid<Compute<S>>;
#if defined(HD_CUDA)
  HD_ROWS(Index, line, outer * inner, team) {
    const Index first = line / inner * n * inner + line % inner;
    const auto at = [&](Index i) { return first + (reverse ? n - 1 - i : i) * inner; };
    if constexpr (team > 1) {
      scan_line<M, Index, n, exclusive>(x, y, at);
    } else {
      SumInOrder<M, 1, n> sum;
      for (Index i = 0; i < n; ++i) {
        const auto before = sum.so_far(0);
        sum.add(0, (Compute<S>)x[at(i)]);
        y[at(i)] = (S)(exclusive ? before : sum.so_far(0));
        if (i % kRun == kRun - 1) sum.end_run();
      }
    }
  }
#else
  constexpr Index parts = (inner + beside - 1) / beside;
  HD_ROWS(Index, part, outer * parts, 1) {
    const Index column = part % parts * beside, first = part / parts * n * inner + column;
    const auto at = [&](Index i) { return first + (reverse ? n - 1 - i : i) * inner; };
    if constexpr (inner == 1) scan_line<M, Index, n, exclusive>(x, y, at);
    else scan_beside<M, beside, Index, n, exclusive>(x, y, (int)least<Index>(beside, inner - column), at);
  }
#endif
}

}  // namespace hd
