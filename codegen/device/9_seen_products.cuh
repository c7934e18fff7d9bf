#pragma once
// Products of queries with the keys of a cache, up to a last position for each row (ir/ops/seen_products.cpp). Later
// keys are not read.
// The order of a sum depends on the width alone.
namespace hd {

#if defined(HD_CUDA)

// A warp takes a key; its lanes share the elements.
template <class Index, i64 matrices, i64 of_row, int m, Index n, int width, class S>
HD_DEVICE void seen_products(const S* q, const S* keys, const int* last, S* y) {
  using T = Compute<S>;
  const int lane = lane_of(32);
  HD_ROWS(Index, at, (Index)matrices * n, 32) {
    const Index matrix = at / n, key = at % n;
    const bool seen = (i64)key <= (i64)last[matrix / of_row];
    for (int i = 0; i < m; ++i) {
      T sum = T(0);
      for (int k = lane; seen && k < width; k += 32)
        sum += (T)q[((i64)matrix * m + i) * width + k] * (T)keys[(i64)at * width + k];
      HD_UNROLL
      for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
      if (lane == 0) y[((i64)matrix * m + i) * n + key] = (S)sum;
    }
  }
}

#else

// 16 neighbouring elements in as many vectors as needed. So the sums are the same for every vector size.
template <class T>
struct Lanes {
  static constexpr int count = 16, parts = count * (int)sizeof(T) / HD_VECTOR;
  Vector<T> part[parts];
};
template <class T, class S>
HD_DEVICE Lanes<T> lanes_at(const S* from, int count) {
  Lanes<T> lanes;
  if constexpr (sizeof(S) == sizeof(T)) {
    if (count == Lanes<T>::count) {
      copy_bytes(&lanes, from, sizeof(lanes));
      return lanes;
    }
  }
  T x[Lanes<T>::count] = {};
  for (int i = 0; i < count; ++i) x[i] = (T)from[i];
  copy_bytes(&lanes, x, sizeof(lanes));
  return lanes;
}
template <int width, class S>
HD_DEVICE Compute<S> dot_of_lanes(const S* a, const S* b) {
  using T = Compute<S>;
  constexpr int count = Lanes<T>::count;
  Lanes<T> sum = {};
  for (int k = 0; k < width; k += count) {
    const int there = width - k < count ? width - k : count;
    const Lanes<T> x = lanes_at<T>(a + k, there), y = lanes_at<T>(b + k, there);
    for (int p = 0; p < Lanes<T>::parts; ++p) sum.part[p] += x.part[p] * y.part[p];
  }
  T lane[count];
  copy_bytes(lane, &sum, sizeof(lane));
  for (int half_way = count / 2; half_way > 0; half_way /= 2)
    for (int i = 0; i < half_way; ++i) lane[i] += lane[i + half_way];
  return lane[0];
}

template <class Index, i64 matrices, i64 of_row, int m, Index n, int width, class S>
HD_DEVICE void seen_products(const S* q, const S* keys, const int* last, S* y) {
  HD_ROWS(Index, matrix, (Index)matrices, 1) {
    const i64 place = (i64)last[matrix / of_row] + 1;
    const Index seen = (Index)(place < 0 ? 0 : place < n ? place : n);
    const S *queries = q + (i64)matrix * m * width, *key = keys + (i64)matrix * n * width;
    S* to = y + (i64)matrix * m * n;
    for (Index j = 0; j < seen; ++j, key += width)
      for (int i = 0; i < m; ++i) to[(i64)i * n + j] = (S)dot_of_lanes<width>(queries + (i64)i * width, key);
    for (int i = 0; i < m; ++i)
      for (Index j = seen; j < n; ++j) to[(i64)i * n + j] = S(0);
  }
}

#endif

}  // namespace hd
