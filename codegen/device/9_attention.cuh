#pragma once
// Attention in blocks of queries and keys: y = softmax(scale q k^T, masked) v without storing the scores, and its
// gradients, which compute the weights again from the saved logarithms of the sums (Dao et al. 2022, arXiv:2205.14135;
// Rabe, Staats 2021, arXiv:2112.05682). Every sum goes through the keys (or queries) in order, so the bits do not
// depend on the number of threads.
//
//   q [rows, queries, heads * width], k [rows, keys, kv_heads * width], v [rows, keys, kv_heads * value_width]
//   y [rows, queries, heads * value_width], lse [rows, heads, queries]
namespace hd {

template <i64 rows_, int heads_, int kv_heads_, i64 queries_, i64 keys_, int width_, int value_width_>
struct AttentionShape {
  static constexpr i64 rows = rows_, queries = queries_, keys = keys_;
  static constexpr int heads = heads_, kv_heads = kv_heads_, width = width_, value_width = value_width_;
  static constexpr int group = heads / kv_heads;  // heads that share keys
  static constexpr i64 shift = keys - queries;    // query i is at the position of key i + shift
};

// Which optional parts the attention has, and the strides of the bias: 0 along axes along which it repeats.
template <bool causal_, i64 window_, bool alibi_, bool lengths_, bool key_mask_, bool documents_, bool caps_, bool drops_, bool bias_,
          i64 bias_row_, i64 bias_head_, i64 bias_query_, i64 bias_key_>
struct AttentionOptions {
  static constexpr bool causal = causal_, alibi = alibi_, lengths = lengths_, key_mask = key_mask_, documents = documents_;
  static constexpr bool caps = caps_, drops = drops_, bias = bias_;
  static constexpr i64 window = window_, bias_row = bias_row_, bias_head = bias_head_, bias_query = bias_query_, bias_key = bias_key_;
};

template <class Shape, class Options, class T>
struct AttentionScores {
  const T* bias;
  const int* lengths;
  const u8* key_mask;
  const int* documents;
  const i64 *seed, *step;
  i64 stream;
  T scale, cap;
  float rate;

  // The end of the keys of a row.
  HD_DEVICE i64 end(i64 row) const {
    if constexpr (!Options::lengths) return Shape::keys;
    return lengths[row] < Shape::keys ? (i64)lengths[row] : Shape::keys;
  }
  HD_DEVICE bool visible(i64 row, i64 query, i64 key) const {
    const i64 place = query + Shape::shift;
    bool seen = true;
    if constexpr (Options::causal) seen = seen && key <= place;
    if constexpr (Options::window > 0) seen = seen && place - key < Options::window;
    if constexpr (Options::window > 0 && !Options::causal) seen = seen && key - place < Options::window;
    if constexpr (Options::lengths) seen = seen && key < (i64)lengths[row];
    if constexpr (Options::key_mask) seen = seen && key_mask[row * Shape::keys + key] != 0;
    if constexpr (Options::documents)
      seen = seen && documents[row * Shape::keys + place] == documents[row * Shape::keys + key];
    return seen;
  }
  // ALiBi's penalty per key of distance: 2^(-8 (h + 1) / heads); if the number of heads is no power of two, the further
  // heads get values between these (Press et al. 2022, arXiv:2108.12409).
  HD_DEVICE T slope(int head) const {
    int power = 1;
    while (2 * power <= Shape::heads) power *= 2;
    const int eighths = head < power ? 2 * (head + 1) : 2 * (head - power) + 1;
    return exp(T(-0.693147180559945309) * T(4 * eighths) / T(power));
  }
  HD_DEVICE T bias_at(i64 row, int head, i64 query, i64 key) const {
    return bias[row * Options::bias_row + head * Options::bias_head + query * Options::bias_query + key * Options::bias_key];
  }
  // The score before bias, ALiBi and masks. `x` is the product times the scale.
  HD_DEVICE T capped(T x) const {
    if constexpr (Options::caps) return cap * tanh(x / cap);
    return x;
  }
  HD_DEVICE T beside(T x, T slope, i64 row, int head, i64 query, i64 key) const {
    const i64 distance = query + Shape::shift - key;
    if constexpr (Options::bias) x += bias_at(row, head, query, key);
    if constexpr (Options::alibi) x -= slope * (T)(distance < 0 ? -distance : distance);
    return x;
  }
  HD_DEVICE i64 element(i64 row, int head, i64 query, i64 key) const {
    return ((row * Shape::heads + head) * Shape::queries + query) * Shape::keys + key;
  }
  HD_DEVICE bool kept(i64 row, int head, i64 query, i64 key) const {
    return random_uniform<float>(*seed, *step, stream, element(row, head, query, key)) >= rate;
  }
  HD_DEVICE T kept_scale() const { return T(1) / (T(1) - T(rate)); }
};

// The logarithm of the sum of exp. For a row without keys it is 0.
template <class T>
HD_DEVICE T log_of_sum(T most, T sum) {
  return sum == T(0) ? T(0) : most + log(sum);
}
// The start of the running maximum. No score is below it, and no difference from it is nan.
template <class T>
HD_DEVICE constexpr T lowest_finite() {
  if constexpr (sizeof(T) == 8) return T(-1.7976931348623157e308);
  else return T(-3.4028234663852886e38f);
}

#if defined(HD_CUDA)

// A warp takes a query. A lane takes every 32nd key for the scores, and every 32nd element of a row for the sums.
template <int elements>
HD_DEVICE constexpr int of_lane() {
  return (elements + 31) / 32;
}
template <class T>
HD_DEVICE T of_all_lanes(T x, bool largest) {
  HD_UNROLL
  for (int distance = 16; distance > 0; distance /= 2) {
    const T other = __shfl_xor_sync(0xffffffffu, x, distance);
    x = largest ? (other > x ? other : x) : x + other;
  }
  return x;
}
template <int width, class T>
HD_DEVICE T dot_product(const T* a, const T* b) {
  T sum = 0;
  for (int c = 0; c < width; ++c) sum += a[c] * b[c];
  return sum;
}
// sum[s] += the lanes' factors times their rows. Row t lies at rows + t * stride. If a factor is 0, its row contributes
// 0, also if it is not finite.
template <int width, class T>
HD_DEVICE void add_rows(T (&sum)[of_lane<width>()], T factor, const T* rows, i64 stride, int count) {
  for (int t = 0; t < count; ++t) {
    const T f = __shfl_sync(0xffffffffu, factor, t);
    HD_UNROLL
    for (int s = 0; s < of_lane<width>(); ++s) {
      const int c = s * 32 + (thread() & 31);
      if (c < width && f != T(0)) sum[s] += f * rows[t * stride + c];
    }
  }
}
// The keys that a query may see lie in [first, end).
template <class Shape, class Options, class Scores>
HD_DEVICE void keys_of(const Scores& scores, i64 row, i64 query, i64& first, i64& end) {
  const i64 place = query + Shape::shift;
  first = 0, end = scores.end(row);
  if (Options::window > 0 && place - Options::window + 1 > first) first = place - Options::window + 1;
  if (Options::causal && place + 1 < end) end = place + 1;
  if (Options::window > 0 && !Options::causal && place + Options::window < end) end = place + Options::window;
}

template <class Shape, class Options, class T>
HD_DEVICE void attention(const T* q, const T* k, const T* v, const AttentionScores<Shape, Options, T>& scores, T* y, T* lse) {
  constexpr int W = Shape::width, U = Shape::value_width;
  HD_ROWS(i64, job, Shape::rows * Shape::heads * Shape::queries, 32) {
    const i64 query = job % Shape::queries, row = job / Shape::queries / Shape::heads;
    const int head = (int)(job / Shape::queries % Shape::heads), shared = head / Shape::group, lane = thread() & 31;
    const T* mine = q + ((row * Shape::queries + query) * Shape::heads + head) * W;
    const T* all_keys = k + (row * Shape::keys * Shape::kv_heads + shared) * W;
    const T* all_values = v + (row * Shape::keys * Shape::kv_heads + shared) * U;
    T most = lowest_finite<T>(), total = 0, sum[of_lane<U>()] = {};
    const T slope = Options::alibi ? scores.slope(head) : T(0);
    i64 first, end;
    keys_of<Shape, Options>(scores, row, query, first, end);
    for (i64 from = first; from < end; from += 32) {
      const i64 key = from + lane;
      T x = lowest<T>();
      if (key < end && scores.visible(row, query, key))
        x = scores.beside(scores.capped(scores.scale * dot_product<W>(mine, all_keys + key * Shape::kv_heads * W)), slope, row, head, query, key);
      const T larger = of_all_lanes(x > most ? x : most, true), factor = exp(most - larger);
      T p = exp(x - larger);
      most = larger;
      total = total * factor + of_all_lanes(p, false);
      if constexpr (Options::drops)
        if (key < end) p = scores.kept(row, head, query, key) ? p * scores.kept_scale() : T(0);
      HD_UNROLL
      for (int s = 0; s < of_lane<U>(); ++s) sum[s] *= factor;
      add_rows<U>(sum, p, all_values + from * Shape::kv_heads * U, (i64)Shape::kv_heads * U, (int)least<i64>(32, end - from));
    }
    T* result = y + ((row * Shape::queries + query) * Shape::heads + head) * U;
    HD_UNROLL
    for (int s = 0; s < of_lane<U>(); ++s)
      if (s * 32 + lane < U) result[s * 32 + lane] = total == T(0) ? T(0) : sum[s] / total;
    if (lane == 0) lse[job] = log_of_sum(most, total);
  }
}

// For a query and a key: the weight, the weight after dropout, and the gradient of the score times the scale.
template <class T>
struct ScoreGradient {
  T weight, gradient;
};
template <class Shape, class Options, class T>
HD_DEVICE ScoreGradient<T> score_gradient(const AttentionScores<Shape, Options, T>& scores, const T* query_row, const T* key_row,
                                          const T* value_row, const T* dy_row, T lse, T delta, T slope, i64 row, int head, i64 query,
                                          i64 key) {
  const T x = scores.scale * dot_product<Shape::width>(query_row, key_row), c = scores.capped(x);
  const T p = exp(scores.beside(c, slope, row, head, query, key) - lse);
  T dp = dot_product<Shape::value_width>(dy_row, value_row), weight = p;
  if constexpr (Options::drops) {
    const bool kept = scores.kept(row, head, query, key);
    weight = kept ? p * scores.kept_scale() : T(0);
    dp = kept ? dp * scores.kept_scale() : T(0);
  }
  T ds = p == T(0) ? T(0) : p * (dp - delta);
  if constexpr (Options::caps) ds *= T(1) - c / scores.cap * (c / scores.cap);
  return {weight, ds * scores.scale};
}

template <class Shape, class Options, bool by_heads, class T>
HD_DEVICE void attention_grad(const T* q, const T* k, const T* v, const T* dy, const T* lse, const T* delta,
                              const AttentionScores<Shape, Options, T>& scores, T* dq, T* dk, T* dv) {
  constexpr int W = Shape::width, U = Shape::value_width;
  constexpr i64 of_queries = Shape::rows * Shape::heads * Shape::queries, of_keys = Shape::rows * Shape::kv_heads * Shape::keys;
  HD_ROWS(i64, job, of_queries + of_keys, 32) {
    const int lane = thread() & 31;
    if (job < of_queries) {
      const i64 query = job % Shape::queries, row = job / Shape::queries / Shape::heads;
      const int head = (int)(job / Shape::queries % Shape::heads), shared = head / Shape::group;
      const i64 at = (row * Shape::queries + query) * Shape::heads + head;
      const T* all_keys = k + (row * Shape::keys * Shape::kv_heads + shared) * W;
      const T* all_values = v + (row * Shape::keys * Shape::kv_heads + shared) * U;
      const T slope = Options::alibi ? scores.slope(head) : T(0);
      T sum[of_lane<W>()] = {};
      i64 first, end;
      keys_of<Shape, Options>(scores, row, query, first, end);
      for (i64 from = first; from < end; from += 32) {
        const i64 key = from + lane;
        T ds = 0;
        if (key < end && scores.visible(row, query, key))
          ds = score_gradient(scores, q + at * W, all_keys + key * Shape::kv_heads * W, all_values + key * Shape::kv_heads * U, dy + at * U,
                              lse[job], delta[job], slope, row, head, query, key)
                   .gradient;
        add_rows<W>(sum, ds, all_keys + from * Shape::kv_heads * W, (i64)Shape::kv_heads * W, (int)least<i64>(32, end - from));
      }
      HD_UNROLL
      for (int s = 0; s < of_lane<W>(); ++s)
        if (s * 32 + lane < W) dq[at * W + s * 32 + lane] = sum[s];
    } else {
      const i64 mine = job - of_queries, key = mine % Shape::keys, row = mine / Shape::keys / Shape::kv_heads;
      const int shared = (int)(mine / Shape::keys % Shape::kv_heads);
      const i64 at = (row * Shape::keys + key) * Shape::kv_heads + shared;
      T of_key[of_lane<W>()] = {}, of_value[of_lane<U>()] = {};
      for (int member = 0; member < Shape::group; ++member) {
        const int head = shared * Shape::group + member;
        const T slope = Options::alibi ? scores.slope(head) : T(0);
        const T* all_queries = q + (row * Shape::queries * Shape::heads + head) * W;
        const T* all_dy = dy + (row * Shape::queries * Shape::heads + head) * U;
        const i64 sums = (row * Shape::heads + head) * Shape::queries;
        for (i64 from = 0; from < Shape::queries; from += 32) {
          const i64 query = from + lane;
          ScoreGradient<T> g = {T(0), T(0)};
          if (query < Shape::queries && key < scores.end(row) && scores.visible(row, query, key))
            g = score_gradient(scores, all_queries + query * Shape::heads * W, k + at * W, v + at * U, all_dy + query * Shape::heads * U,
                               lse[sums + query], delta[sums + query], slope, row, head, query, key);
          const int count = (int)least<i64>(32, Shape::queries - from);
          add_rows<W>(of_key, g.gradient, all_queries + from * Shape::heads * W, (i64)Shape::heads * W, count);
          add_rows<U>(of_value, g.weight, all_dy + from * Shape::heads * U, (i64)Shape::heads * U, count);
        }
      }
      HD_UNROLL
      for (int s = 0; s < of_lane<W>(); ++s)
        if (s * 32 + lane < W) dk[at * W + s * 32 + lane] = of_key[s];
      HD_UNROLL
      for (int s = 0; s < of_lane<U>(); ++s)
        if (s * 32 + lane < U) dv[at * U + s * 32 + lane] = of_value[s];
    }
  }
}

#else

// The bytes of a vector: as many as a register of the processor has.
#if defined(__AVX512F__)
#define HD_VECTOR 64
#elif defined(__AVX__)
#define HD_VECTOR 32
#else
#define HD_VECTOR 16
#endif
typedef float Floats __attribute__((vector_size(HD_VECTOR)));
typedef int Ints __attribute__((vector_size(HD_VECTOR)));
typedef double Doubles __attribute__((vector_size(HD_VECTOR)));
template <class T>
struct VectorOf {
  using type = Floats;
};
template <>
struct VectorOf<double> {
  using type = Doubles;
};
template <class T>
using Vector = typename VectorOf<T>::type;
template <class T>
HD_DEVICE constexpr int in_vector() {
  return HD_VECTOR / (int)sizeof(T);
}
// The register tile of a product: vectors in a row, and the number of vectors in the tile.
#if defined(__AVX512F__)
constexpr int kTileVectors = 4, kTileSums = 24;
#else
constexpr int kTileVectors = 2, kTileSums = 12;
#endif
HD_DEVICE constexpr int tile_rows(int vectors) { return vectors == 1 ? kTileSums / 2 : kTileSums / vectors; }

template <class T>
HD_DEVICE Vector<T> vector_at(const T* from) {
  Vector<T> v;
  copy_bytes(&v, from, sizeof(v));
  return v;
}
template <class T>
HD_DEVICE void put_vector(T* to, Vector<T> v) {
  copy_bytes(to, &v, sizeof(v));
}
template <class T>
HD_DEVICE Vector<T> in_all(T x) {
  return x - Vector<T>{};
}
// a b + c with a single rounding, if the processor has the instruction. With contraction off the compiler does not use
// it.
HD_DEVICE Floats fma_each(Floats a, Floats b, Floats c) {
#if defined(__AVX512F__)
  return (Floats)__builtin_ia32_vfmaddps512_mask(a, b, c, (unsigned short)-1, 4);
#elif defined(__AVX__) && defined(__FMA__)
  return (Floats)__builtin_ia32_vfmaddps256(a, b, c);
#else
  return a * b + c;
#endif
}
HD_DEVICE Doubles fma_each(Doubles a, Doubles b, Doubles c) {
#if defined(__AVX512F__)
  return (Doubles)__builtin_ia32_vfmaddpd512_mask(a, b, c, (unsigned char)-1, 4);
#elif defined(__AVX__) && defined(__FMA__)
  return (Doubles)__builtin_ia32_vfmaddpd256(a, b, c);
#else
  return a * b + c;
#endif
}
// exp of each element of a vector, as exp of a float (3_math.cuh).
HD_DEVICE Floats exp_each(Floats x) {
  x = x > 89.0f ? in_all(89.0f) : x;
  x = x < -88.0f ? in_all(-88.0f) : x;
  const Floats shifted = fma_each(x, in_all(1.44269504f), in_all(12582912.0f)), n = shifted - 12582912.0f;
  const Floats r = fma_each(n, in_all(-1.42860677e-6f), fma_each(n, in_all(-0.693145752f), x));
  Floats p = in_all(1.38146133e-3f);
  p = fma_each(p, r, in_all(8.36870982e-3f));
  p = fma_each(p, r, in_all(4.16683874e-2f));
  p = fma_each(p, r, in_all(1.66665207e-1f));
  p = fma_each(p, r, in_all(4.99999935e-1f));
  p = fma_each(p, r * r, r) + 1.0f;
  Ints exponent = (Ints)shifted - 0x4b400000 + 126;
  exponent = exponent < 0 ? Ints{} : exponent;
  return 2.0f * ((Floats)(exponent << 23) * p);
}
HD_DEVICE Doubles exp_each(Doubles x) {
  for (int i = 0; i < in_vector<double>(); ++i) x[i] = exp(x[i]);
  return x;
}

// Interleaves a and b: a becomes the interleaved lower halves, b the upper halves.
template <class T>
HD_DEVICE void interleave(Vector<T>& a, Vector<T>& b) {
  constexpr int lanes = in_vector<T>();
  Vector<T> low, high;
  if constexpr (lanes == 16) {
    low = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    high = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  } else if constexpr (lanes == 8) {
    low = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11), high = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
  } else if constexpr (lanes == 4) {
    low = __builtin_shufflevector(a, b, 0, 4, 1, 5), high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  } else {
    low = __builtin_shufflevector(a, b, 0, 2), high = __builtin_shufflevector(a, b, 1, 3);
  }
  a = low, b = high;
}
// Transposes a square of vectors. Each turn doubles the number of elements of a column that are adjacent.
template <class T>
HD_DEVICE void transpose_vectors(Vector<T> (&rows)[HD_VECTOR / (int)sizeof(T)]) {
  constexpr int lanes = in_vector<T>();
  HD_UNROLL
  for (int turn = 1; turn < lanes; turn *= 2) {
    Vector<T> next[lanes];
    HD_UNROLL
    for (int i = 0; i < lanes / 2; ++i) {
      next[2 * i] = rows[i], next[2 * i + 1] = rows[i + lanes / 2];
      interleave<T>(next[2 * i], next[2 * i + 1]);
    }
    HD_UNROLL
    for (int i = 0; i < lanes; ++i) rows[i] = next[i];
  }
}
// to [columns, rows] = from [rows, columns], each element times its row's factor or its column's.
template <bool by_row, class T>
HD_DEVICE void transpose_scaled(const T* from, i64 from_stride, int rows, int columns, const T* factor, T* to, i64 to_stride) {
  constexpr int lanes = in_vector<T>();
  for (int r = 0; r < rows; r += lanes)
    for (int c = 0; c < columns; c += lanes) {
      if (r + lanes > rows || c + lanes > columns) {
        for (int i = r; i < rows && i < r + lanes; ++i)
          for (int j = c; j < columns && j < c + lanes; ++j)
            to[j * to_stride + i] = from[i * from_stride + j] * factor[by_row ? i : j];
        continue;
      }
      Vector<T> tile[lanes];
      HD_UNROLL
      for (int i = 0; i < lanes; ++i)
        tile[i] = vector_at(from + (r + i) * from_stride + c) * (by_row ? in_all(factor[r + i]) : vector_at(factor + c));
      transpose_vectors<T>(tile);
      HD_UNROLL
      for (int i = 0; i < lanes; ++i) put_vector(to + (c + i) * to_stride + r, tile[i]);
    }
}

// Computes a tile of c = a b, or adds it to c (`adds`): `high` rows and `wide` vectors of columns. `along`: neighbours
// in a row of a are adjacent in memory, else neighbours in a column.
template <bool along, bool adds, int high, int wide, class T>
HD_DEVICE void multiply_tile(const T* a, i64 a_stride, const T* b, i64 b_stride, int depth, T* c, i64 c_stride) {
  constexpr int lanes = in_vector<T>();
  Vector<T> sum[high][wide];
  HD_UNROLL
  for (int r = 0; r < high; ++r) HD_UNROLL
    for (int v = 0; v < wide; ++v) sum[r][v] = adds ? vector_at(c + r * c_stride + v * lanes) : Vector<T>{};
  HD_LOOP for (int step = 0; step < depth; ++step) {
    Vector<T> right[wide];
    HD_UNROLL
    for (int v = 0; v < wide; ++v) right[v] = vector_at(b + step * b_stride + v * lanes);
    HD_UNROLL
    for (int r = 0; r < high; ++r) {
      const Vector<T> left = in_all(along ? a[r * a_stride + step] : a[step * a_stride + r]);
      HD_UNROLL
      for (int v = 0; v < wide; ++v) sum[r][v] = fma_each(left, right[v], sum[r][v]);
    }
  }
  HD_UNROLL
  for (int r = 0; r < high; ++r) HD_UNROLL
    for (int v = 0; v < wide; ++v) put_vector(c + r * c_stride + v * lanes, sum[r][v]);
}
template <bool along, bool adds, int high, int wide, class T>
HD_DEVICE void multiply_rest(int rows, const T* a, i64 a_stride, const T* b, i64 b_stride, int depth, T* c, i64 c_stride) {
  if (rows == high) return multiply_tile<along, adds, high, wide>(a, a_stride, b, b_stride, depth, c, c_stride);
  if constexpr (high > 1) multiply_rest<along, adds, high - 1, wide>(rows, a, a_stride, b, b_stride, depth, c, c_stride);
}
template <class T>
HD_DEVICE void ask_for_rows(const T* from, i64 stride, int rows, int columns) {
  constexpr int of_line = 64 / (int)sizeof(T);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; c += of_line) __builtin_prefetch(from + r * stride + c);
}
template <bool along, bool adds, int wide, class T>
static __attribute__((noinline)) void multiply_panel(int rows, const T* a, i64 a_stride, const T* b, i64 b_stride, int depth, T* c,
                                                     i64 c_stride) {
  constexpr int high = tile_rows(wide);
  int row = 0;
  for (; row + high <= rows; row += high) {
    // Prefetch what the next tile reads: the processor does not foresee rows that lie far apart.
    if (along) ask_for_rows(a + (row + high) * a_stride, a_stride, high, depth);
    if (adds) ask_for_rows(c + (row + high) * c_stride, c_stride, high, wide * in_vector<T>());
    multiply_tile<along, adds, high, wide>(a + row * (along ? a_stride : 1), a_stride, b, b_stride, depth, c + row * c_stride, c_stride);
  }
  if (row < rows)
    multiply_rest<along, adds, high - 1, wide>(rows - row, a + row * (along ? a_stride : 1), a_stride, b, b_stride, depth,
                                                    c + row * c_stride, c_stride);
}
// c [rows, columns] = a [rows, depth] b [depth, columns], or c + a b; columns fill whole vectors.
template <bool along, bool adds, int columns, class T>
HD_DEVICE void multiply_matrices(int rows, const T* a, i64 a_stride, const T* b, i64 b_stride, int depth, T* c, i64 c_stride) {
  constexpr int lanes = in_vector<T>(), panel = kTileVectors * lanes, rest = columns % panel / lanes;
  static_assert(columns % lanes == 0, "whole vectors");
  for (int column = 0; column + panel <= columns; column += panel)
    multiply_panel<along, adds, kTileVectors>(rows, a, a_stride, b + column, b_stride, depth, c + column, c_stride);
  if constexpr (rest > 0)
    multiply_panel<along, adds, rest>(rows, a, a_stride, b + columns / panel * panel, b_stride, depth, c + columns / panel * panel, c_stride);
}

// The sizes of the blocks: queries, a whole number of vectors, and keys. Scores are stored as [keys, queries]. So a
// vector holds queries, and no sum or maximum goes across its elements.
template <class Shape, class T>
struct AttentionBlocks {
  static constexpr int lanes = in_vector<T>();
  // Smaller blocks for short rows, because the part of a block that a causal mask hides is computed too.
  static constexpr int most = (Shape::queries * (int)sizeof(T) <= 512 ? 128 : 256) / (int)sizeof(T);
  static constexpr int queries = Shape::queries >= most ? most : (int)((Shape::queries + lanes - 1) / lanes * lanes);
  static constexpr int keys = Shape::keys < 64 ? (int)Shape::keys : 64;
  static constexpr i64 of_queries = (Shape::queries + queries - 1) / queries, of_keys = (Shape::keys + keys - 1) / keys;
  static constexpr int width = (Shape::width + lanes - 1) / lanes * lanes, value_width = (Shape::value_width + lanes - 1) / lanes * lanes;
};

// The number of neighbouring blocks of queries that go through the keys together, so that each block of keys is fetched
// once for them. It is limited: there must be work for many threads, and the arrays of these blocks must stay in a
// processor's second-level cache.
template <class Shape, class T>
HD_DEVICE constexpr int blocks_together(i64 of_heads, int widths) {
  using Blocks = AttentionBlocks<Shape, T>;
  constexpr i64 kJobs = 48, kBytes = 400 << 10;
  int count = 4;
  while (count > 1 && (of_heads * ((Blocks::of_queries + count - 1) / count) < kJobs ||
                       (i64)count * widths * Blocks::queries * (int)sizeof(T) > kBytes))
    count /= 2;
  return count;
}

// An order of blocks, first, last, second, ..., that balances work if later blocks see more keys.
HD_DEVICE i64 paired(i64 i, i64 count) { return i % 2 == 0 ? i / 2 : count - 1 - i / 2; }

// The keys of a block of queries: blocks of keys from `first` to `end`, and which of these blocks need a mask.
template <class Shape, class Options, class T>
struct KeyRange {
  static constexpr int block = AttentionBlocks<Shape, T>::keys;
  i64 low, high;  // positions of the first and last query
  i64 first, end;
  KeyRange() = default;
  HD_DEVICE KeyRange(const AttentionScores<Shape, Options, T>& scores, i64 row, i64 query, int count) {
    low = query + Shape::shift, high = low + count - 1;
    first = 0, end = scores.end(row);
    if (Options::window > 0 && low - Options::window + 1 > 0) first = (low - Options::window + 1) / block * block;
    if (Options::causal && high + 1 < end) end = high + 1;
    if (Options::window > 0 && !Options::causal && high + Options::window < end) end = high + Options::window;
  }
  HD_DEVICE bool masked(i64 key, int count) const {
    if (Options::key_mask || Options::documents) return true;
    const i64 last = key + count - 1;
    return (Options::causal && last > low) || (Options::window > 0 && high - key >= Options::window) ||
           (Options::window > 0 && !Options::causal && last - low >= Options::window);
  }
};

// Whether a query of the block may see a key of the other block, as far as documents decide. Their documents are
// compared as ranges.
template <class Shape, class Options, class T>
HD_DEVICE bool share_documents(const AttentionScores<Shape, Options, T>& scores, i64 row, const KeyRange<Shape, Options, T>& range, i64 key,
                               int count) {
  if constexpr (!Options::documents) return true;
  const int* all = scores.documents + row * Shape::keys;
  int low = all[range.low], high = low, first = all[key], last = first;
  for (i64 i = range.low; i <= range.high; ++i) low = all[i] < low ? all[i] : low, high = all[i] > high ? all[i] : high;
  for (i64 j = key; j < key + count; ++j) first = all[j] < first ? all[j] : first, last = all[j] > last ? all[j] : last;
  return low <= last && first <= high;
}

// to [columns, block] = factor * from [count, columns], then zeros. pack_rows makes [block, wide].
template <int block, class T>
HD_DEVICE void pack_columns(const T* from, i64 stride, int count, int columns, T factor, T* to) {
  T factors[block];
  for (int i = 0; i < block; ++i) factors[i] = factor;
  transpose_scaled<true>(from, stride, count, columns, factors, to, block);
  for (int c = 0; c < columns; ++c)
    for (int i = count; i < block; ++i) to[c * block + i] = T(0);
}
template <int block, int wide, class T>
HD_DEVICE void pack_rows(const T* from, i64 stride, int count, int columns, T factor, T* to) {
  for (int i = 0; i < block; ++i)
    for (int c = 0; c < wide; ++c) to[i * wide + c] = i < count && c < columns ? factor * from[i * stride + c] : T(0);
}
// The factors of dropout, 0 or 1 / (1 - rate), for the keys and queries of a block. Four keys share a group of random
// words if rows of scores fill whole groups.
template <class Shape, class Options, class T>
HD_DEVICE void draw_kept(const AttentionScores<Shape, Options, T>& scores, i64 row, int head, i64 query, i64 key, int n, T* kept) {
  constexpr int block = AttentionBlocks<Shape, T>::queries;
  const i64 seed = *scores.seed, step = *scores.step, first = scores.element(row, head, query, key);
  const T scale = scores.kept_scale();
  if (Shape::keys % 4 == 0 && n % 4 == 0) {
    for (int j = 0; j < n; j += 4)
      for (int i = 0; i < block; ++i) {
        const Words words = philox(seed, step, scores.stream, (first + i * Shape::keys + j) >> 2);
        kept[j * block + i] = unit<float>(words.x) >= scores.rate ? scale : T(0);
        kept[(j + 1) * block + i] = unit<float>(words.y) >= scores.rate ? scale : T(0);
        kept[(j + 2) * block + i] = unit<float>(words.z) >= scores.rate ? scale : T(0);
        kept[(j + 3) * block + i] = unit<float>(words.w) >= scores.rate ? scale : T(0);
      }
    return;
  }
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < block; ++i)
      kept[j * block + i] = random_uniform<float>(seed, step, scores.stream, first + i * Shape::keys + j) >= scores.rate ? scale : T(0);
}
template <class T>
HD_DEVICE Vector<T> dropped(const T* kept, Vector<T> x) {
  const Vector<T> factor = vector_at(kept);
  return factor == T(0) ? Vector<T>{} : x * factor;
}

template <class T>
HD_DEVICE bool is_finite(T x) {
  return x - x == T(0);
}
// Whether all elements are finite: an element times 0 is 0, or nan if it is not finite.
template <class T>
HD_DEVICE bool all_finite(const T* from, i64 stride, int count, int columns) {
  constexpr int lanes = in_vector<T>();
  Vector<T> sums = {};
  T sum = 0;
  for (int i = 0; i < count; ++i) {
    int c = 0;
    for (; c + lanes <= columns; c += lanes) sums += vector_at(from + i * stride + c) * T(0);
    for (; c < columns; ++c) sum += from[i * stride + c] * T(0);
  }
  for (int i = 0; i < lanes; ++i) sum += sums[i];
  return sum == T(0);
}
template <class T>
HD_DEVICE void keep_finite(const T* from, i64 stride, int count, int columns, T* to) {
  for (int i = 0; i < count; ++i)
    for (int c = 0; c < columns; ++c) to[i * columns + c] = is_finite(from[i * stride + c]) ? from[i * stride + c] : T(0);
}

// Turns products into scores: applies cap, bias and ALiBi, and sets -inf where a query does not see a key.
template <class Shape, class Options, class T>
HD_DEVICE void finish_scores(const AttentionScores<Shape, Options, T>& scores, bool masked, i64 row, int head, i64 query, int queries, i64 key,
                             int keys, T* x) {
  constexpr int block = AttentionBlocks<Shape, T>::queries;
  const T slope = Options::alibi ? scores.slope(head) : T(0);
  if constexpr (Options::caps || Options::bias || Options::alibi)
    for (int j = 0; j < keys; ++j)
      for (int i = 0; i < block; ++i) {
        const i64 there = query + (i < queries ? i : queries - 1);
        x[j * block + i] = scores.beside(scores.capped(x[j * block + i]), slope, row, head, there, key + j);
      }
  if (!masked) return;
  for (int j = 0; j < keys; ++j) {
    // The queries [begin, end) of the block see the key, as far as positions decide. There are no queries after the
    // last one.
    const i64 ahead = key + j - (query + Shape::shift);  // of the first query
    i64 begin = 0, end = queries;
    if (Options::causal && ahead > begin) begin = ahead;
    if (Options::window > 0 && ahead + Options::window < end) end = ahead + Options::window;
    if (Options::window > 0 && !Options::causal && ahead - Options::window + 1 > begin) begin = ahead - Options::window + 1;
    if constexpr (Options::key_mask)
      if (scores.key_mask[row * Shape::keys + key + j] == 0) end = 0;
    if (begin > block) begin = block;
    if (end < 0) end = 0;
    T* of_key = x + j * block;
    for (i64 i = 0; i < begin; ++i) of_key[i] = lowest<T>();
    for (i64 i = end; i < block; ++i) of_key[i] = lowest<T>();
    if constexpr (Options::documents) {
      const int* all = scores.documents + row * Shape::keys;
      const int mine = all[key + j];
      for (int i = 0; i < queries; ++i) of_key[i] = all[query + Shape::shift + i] == mine ? of_key[i] : lowest<T>();
    }
  }
}

// The state of a block of queries while it goes through the keys: the queries, the sums of weights times values, and
// the running maximum and total of the weights.
template <class Shape, class Options, class T>
struct AttentionState {
  static constexpr int B = AttentionBlocks<Shape, T>::queries, W = Shape::width, U = Shape::value_width;
  static constexpr int lanes = in_vector<T>();
  alignas(64) T columns[W * B], sum[U * B], most[B], total[B];
  KeyRange<Shape, Options, T> range;
  i64 query;
  int count;

  HD_DEVICE void start(const T* q, const AttentionScores<Shape, Options, T>& scores, i64 row, int head, i64 first) {
    query = first, count = (int)least<i64>(B, Shape::queries - query);
    range = KeyRange<Shape, Options, T>(scores, row, query, count);
    pack_columns<B>(q + ((row * Shape::queries + query) * Shape::heads + head) * W, (i64)Shape::heads * W, count, W, scores.scale, columns);
    for (int i = 0; i < U * B; ++i) sum[i] = T(0);
    for (int i = 0; i < B; ++i) most[i] = lowest_finite<T>(), total[i] = T(0);
  }
  // Turns scores [n, block] into weights relative to the largest score so far, and rescales the sums to it.
  HD_DEVICE void weigh(T* p, int n) {
    alignas(64) T factor[B];
    bool changed = false;
    for (int at = 0; at < B; at += lanes) {
      Vector<T> larger = vector_at(most + at), sums = {};
      for (int j = 0; j < n; ++j) {
        const Vector<T> x = vector_at(p + j * B + at);
        larger = x > larger ? x : larger;
      }
      const Vector<T> scaled = exp_each(vector_at(most + at) - larger);
      for (int j = 0; j < n; ++j) {
        const Vector<T> e = exp_each(vector_at(p + j * B + at) - larger);
        sums += e;
        put_vector(p + j * B + at, e);
      }
      put_vector(most + at, larger);
      put_vector(total + at, vector_at(total + at) * scaled + sums);
      put_vector(factor + at, scaled);
    }
    for (int i = 0; i < B; ++i) changed = changed || factor[i] != T(1);
    if (!changed) return;
    for (int c = 0; c < U; ++c)
      for (int at = 0; at < B; at += lanes) put_vector(sum + c * B + at, vector_at(sum + c * B + at) * vector_at(factor + at));
  }
  HD_DEVICE void add_values(const T* values, const T* p, int n, bool masked) {
    constexpr i64 stride = (i64)Shape::kv_heads * U;
    if (!masked || all_finite(values, stride, n, U)) return multiply_matrices<false, true, B>(U, values, stride, p, B, n, sum, B);
    // Values that are not finite are replaced by 0, because 0 times nan would be nan for queries that do not see them.
    T finite[AttentionBlocks<Shape, T>::keys * U];
    keep_finite(values, stride, n, U, finite);
    multiply_matrices<false, true, B>(U, finite, U, p, B, n, sum, B);
    for (int j = 0; j < n; ++j)
      for (int c = 0; c < U; ++c)
        for (int i = 0; i < B; ++i)
          if (const T x = values[j * stride + c]; !is_finite(x) && p[j * B + i] != T(0)) sum[c * B + i] += p[j * B + i] * x;
  }
  HD_DEVICE void finish(i64 row, int head, T* y, T* lse) {
    T inverse[B];
    for (int i = 0; i < B; ++i) inverse[i] = total[i] == T(0) ? T(0) : T(1) / total[i];  // without keys the sums are 0, too
    transpose_scaled<false>(sum, B, U, count, inverse, y + ((row * Shape::queries + query) * Shape::heads + head) * U, (i64)Shape::heads * U);
    for (int i = 0; i < count; ++i) lse[(row * Shape::heads + head) * Shape::queries + query + i] = log_of_sum(most[i], total[i]);
  }
};

template <class Shape, class Options, class T>
HD_DEVICE void attention(const T* q, const T* k, const T* v, const AttentionScores<Shape, Options, T>& scores, T* y, T* lse) {
  using Blocks = AttentionBlocks<Shape, T>;
  constexpr int B = Blocks::queries, K = Blocks::keys, W = Shape::width, U = Shape::value_width;
  constexpr int together = blocks_together<Shape, T>(Shape::rows * Shape::heads, W + U);
  constexpr i64 groups = (Blocks::of_queries + together - 1) / together;
  constexpr i64 key_stride = (i64)Shape::kv_heads * W, value_stride = (i64)Shape::kv_heads * U;
  AttentionState<Shape, Options, T> state[together];
  alignas(64) T p[K * B], kept[Options::drops ? K * B : 1];
  HD_ROWS(i64, job, Shape::rows * Shape::heads * groups, 1) {
    const i64 row = job / groups / Shape::heads, begin = paired(job % groups, groups) * together;
    const int head = (int)(job / groups % Shape::heads), shared = head / Shape::group;
    const int count = (int)least<i64>(together, Blocks::of_queries - begin);
    const T* keys = k + (row * Shape::keys * Shape::kv_heads + shared) * W;
    const T* values = v + (row * Shape::keys * Shape::kv_heads + shared) * U;
    i64 first = Shape::keys, end = 0;
    for (int b = 0; b < count; ++b) {
      state[b].start(q, scores, row, head, (begin + b) * B);
      if (state[b].range.first < first) first = state[b].range.first;
      if (state[b].range.end > end) end = state[b].range.end;
    }
    for (i64 key = first; key < end; key += K)
      for (int b = 0; b < count; ++b) {
        auto& s = state[b];
        const int n = (int)least<i64>(K, s.range.end - key);
        if (key < s.range.first || n <= 0 || !share_documents(scores, row, s.range, key, n)) continue;
        const bool masked = s.range.masked(key, n);
        multiply_matrices<true, false, B>(n, keys + key * key_stride, key_stride, s.columns, B, W, p, B);
        finish_scores<Shape, Options>(scores, masked, row, head, s.query, s.count, key, n, p);
        s.weigh(p, n);
        if constexpr (Options::drops) {
          draw_kept(scores, row, head, s.query, key, n, kept);
          for (int at = 0; at < n * B; at += Blocks::lanes) put_vector(p + at, dropped(kept + at, vector_at(p + at)));
        }
        s.add_values(values + key * value_stride, p, n, masked);
      }
    for (int b = 0; b < count; ++b) state[b].finish(row, head, y, lse);
  }
}

// The data of a block of queries for its gradients: as columns for products with keys and values, as rows for products
// over queries.
template <class Shape, class T>
struct QueryBlock {
  using Blocks = AttentionBlocks<Shape, T>;
  static constexpr int B = Blocks::queries, W = Shape::width, U = Shape::value_width;
  alignas(64) T columns[W * B], rows[B * Blocks::width], dy_columns[U * B], dy_rows[B * Blocks::value_width], lse[B], delta[B];
  alignas(64) T sum[W * B];  // of the gradients of the queries, by columns
  i64 row, query;
  int head, count;

  HD_DEVICE void load(const T* q, const T* dy, const T* all_lse, const T* all_delta, T scale, i64 of_row, int of_head, i64 first) {
    row = of_row, head = of_head, query = first, count = (int)least<i64>(B, Shape::queries - first);
    const i64 at = (row * Shape::queries + query) * Shape::heads + head, sums = (row * Shape::heads + head) * Shape::queries + query;
    pack_columns<B>(q + at * W, (i64)Shape::heads * W, count, W, scale, columns);
    pack_rows<B, Blocks::width>(q + at * W, (i64)Shape::heads * W, count, W, scale, rows);
    pack_columns<B>(dy + at * U, (i64)Shape::heads * U, count, U, T(1), dy_columns);
    pack_rows<B, Blocks::value_width>(dy + at * U, (i64)Shape::heads * U, count, U, T(1), dy_rows);
    // After the last query, weights are exp(-largest), which is 0.
    for (int i = 0; i < B; ++i) {
      lse[i] = i < count ? all_lse[sums + i] : -lowest_finite<T>();
      delta[i] = i < count ? all_delta[sums + i] : T(0);
    }
    for (int i = 0; i < W * B; ++i) sum[i] = T(0);
  }
};

// For a block of queries and a block of keys: p gets the weights after dropout, ds the gradients of the products q k^T,
// both [keys, queries].
template <class Shape, class Options, class T>
HD_DEVICE void block_gradient(const QueryBlock<Shape, T>& block, const T* keys, const T* values,
                              const AttentionScores<Shape, Options, T>& scores, bool masked, i64 key, int n, T* p, T* ds) {
  using Blocks = AttentionBlocks<Shape, T>;
  constexpr int B = Blocks::queries, W = Shape::width, U = Shape::value_width, lanes = Blocks::lanes;
  constexpr i64 key_stride = (i64)Shape::kv_heads * W, value_stride = (i64)Shape::kv_heads * U;
  alignas(64) T inner[Options::caps ? Blocks::keys * B : 1], kept[Options::drops ? Blocks::keys * B : 1];
  if constexpr (Options::drops) draw_kept(scores, block.row, block.head, block.query, key, n, kept);
  multiply_matrices<true, false, B>(n, keys + key * key_stride, key_stride, block.columns, B, W, p, B);
  if constexpr (Options::caps)
    for (int i = 0; i < n * B; ++i) {
      const T t = tanh(p[i] / scores.cap);
      inner[i] = T(1) - t * t;
    }
  finish_scores<Shape, Options>(scores, masked, block.row, block.head, block.query, block.count, key, n, p);
  multiply_matrices<true, false, B>(n, values + key * value_stride, value_stride, block.dy_columns, B, U, ds, B);
  for (int j = 0; j < n; ++j)
    for (int at = 0; at < B; at += lanes) {
      T *p_at = p + j * B + at, *ds_at = ds + j * B + at;
      const Vector<T> e = exp_each(vector_at(p_at) - vector_at(block.lse + at));
      Vector<T> weight = e, dp = vector_at(ds_at);
      if constexpr (Options::drops) {
        weight = dropped(kept + j * B + at, weight);
        dp = dropped(kept + j * B + at, dp);
      }
      Vector<T> g = e * (dp - vector_at(block.delta + at));
      g = e == T(0) ? Vector<T>{} : g;
      if constexpr (Options::caps) g *= vector_at(inner + j * B + at);
      put_vector(p_at, weight);
      put_vector(ds_at, g);
    }
}

// Adds a [n, depth] b [depth, wide] to rows of `columns` elements.
template <int columns, int wide, class T>
HD_DEVICE void add_product(int n, const T* a, const T* b, int depth, T* to, i64 stride) {
  if constexpr (columns == wide) {
    multiply_matrices<true, true, wide>(n, a, depth, b, wide, depth, to, stride);
  } else {
    alignas(64) T sum[64 * wide];
    multiply_matrices<true, false, wide>(n, a, depth, b, wide, depth, sum, wide);
    for (int j = 0; j < n; ++j)
      for (int c = 0; c < columns; ++c) to[j * stride + c] += sum[j * wide + c];
  }
}

// dq [width, block] += keys^T ds. A key that is not finite contributes 0 where its gradient is 0.
template <class Shape, class T>
HD_DEVICE void add_query_gradient(const T* keys, int n, bool masked, const T* ds, T* to) {
  constexpr int B = AttentionBlocks<Shape, T>::queries, W = Shape::width;
  constexpr i64 stride = (i64)Shape::kv_heads * W;
  if (masked && !all_finite(keys, stride, n, W)) {
    T finite[AttentionBlocks<Shape, T>::keys * W];
    keep_finite(keys, stride, n, W, finite);
    return multiply_matrices<false, true, B>(W, finite, W, ds, B, n, to, B);
  }
  multiply_matrices<false, true, B>(W, keys, stride, ds, B, n, to, B);
}
template <class Shape, class T>
HD_DEVICE void put_query_gradient(const QueryBlock<Shape, T>& block, T scale, T* dq) {
  constexpr int B = AttentionBlocks<Shape, T>::queries, W = Shape::width;
  T factors[B];
  for (int i = 0; i < B; ++i) factors[i] = scale;
  T* to = dq + ((block.row * Shape::queries + block.query) * Shape::heads + block.head) * W;
  transpose_scaled<false>(block.sum, B, W, block.count, factors, to, (i64)Shape::heads * W);
}

template <int columns, class T>
HD_DEVICE void clear_rows(T* to, i64 stride, i64 n) {
  for (i64 j = 0; j < n; ++j)
    for (int c = 0; c < columns; ++c) to[j * stride + c] = T(0);
}

// With many heads, a worker takes a head, and each score is computed once: five products. With few heads, workers take
// blocks of queries for dq, and other workers blocks of keys for dk and dv: seven products.
template <class Shape, class Options, bool by_heads, class T>
HD_DEVICE void attention_grad(const T* q, const T* k, const T* v, const T* dy, const T* lse, const T* delta,
                              const AttentionScores<Shape, Options, T>& scores, T* dq, T* dk, T* dv) {
  using Blocks = AttentionBlocks<Shape, T>;
  constexpr int B = Blocks::queries, W = Shape::width, U = Shape::value_width, K = Blocks::keys;
  constexpr i64 key_stride = (i64)Shape::kv_heads * W, value_stride = (i64)Shape::kv_heads * U;
  constexpr i64 span = 4 * K, spans = (Shape::keys + span - 1) / span;  // keys of a worker
  constexpr i64 of_keys = Shape::rows * Shape::kv_heads * (by_heads ? 1 : spans);
  constexpr i64 of_queries = by_heads ? 0 : Shape::rows * Shape::heads * Blocks::of_queries;
  constexpr int together = by_heads ? blocks_together<Shape, T>(64, 3 * W + 2 * U) : 1;
  QueryBlock<Shape, T> block[together];
  KeyRange<Shape, Options, T> range[together];
  alignas(64) T p[K * B], ds[K * B];
  HD_ROWS(i64, job, of_keys + of_queries, 1) {
    const bool keys_only = !by_heads && job < of_keys, queries_only = job >= of_keys;
    const i64 of_job = queries_only ? (job - of_keys) / Blocks::of_queries : by_heads ? job : job / spans;
    const i64 row = queries_only ? of_job / Shape::heads : of_job / Shape::kv_heads;
    const int shared = (int)(queries_only ? of_job % Shape::heads / Shape::group : of_job % Shape::kv_heads);
    const i64 low = keys_only ? job % spans * span : 0, high = keys_only ? least<i64>(Shape::keys, low + span) : Shape::keys;
    const i64 at = row * Shape::keys * Shape::kv_heads + shared;
    const T *keys = k + at * W, *values = v + at * U;
    if (!queries_only) {
      clear_rows<W>(dk + at * W + low * key_stride, key_stride, high - low);
      clear_rows<U>(dv + at * U + low * value_stride, value_stride, high - low);
    }
    const i64 first = queries_only ? paired((job - of_keys) % Blocks::of_queries, Blocks::of_queries) : 0;
    const int member = queries_only ? (int)(of_job % Shape::heads % Shape::group) : 0;
    for (int head = shared * Shape::group + member; head < (queries_only ? shared * Shape::group + member + 1 : (shared + 1) * Shape::group); ++head)
      for (i64 number = first; number < (queries_only ? first + 1 : Blocks::of_queries); number += together) {
        const int count = (int)least<i64>(together, Blocks::of_queries - number);
        i64 from = high, end = low;
        for (int b = 0; b < count; ++b) {
          const i64 query = (number + b) * B;
          range[b] = KeyRange<Shape, Options, T>(scores, row, query, (int)least<i64>(B, Shape::queries - query));
          if (range[b].first < low) range[b].first = low;
          if (range[b].end > high) range[b].end = high;
          if (range[b].first < from) from = range[b].first;
          if (range[b].end > end) end = range[b].end;
          if (range[b].first < range[b].end || !keys_only) block[b].load(q, dy, lse, delta, scores.scale, row, head, query);
        }
        for (i64 key = from; key < end; key += K)
          for (int b = 0; b < count; ++b) {
            const int n = (int)least<i64>(K, range[b].end - key);
            if (key < range[b].first || n <= 0 || !share_documents(scores, row, range[b], key, n)) continue;
            const bool masked = range[b].masked(key, n);
            block_gradient<Shape, Options>(block[b], keys, values, scores, masked, key, n, p, ds);
            if (!queries_only) {
              add_product<U, Blocks::value_width>(n, p, block[b].dy_rows, B, dv + at * U + key * value_stride, value_stride);
              add_product<W, Blocks::width>(n, ds, block[b].rows, B, dk + at * W + key * key_stride, key_stride);
            }
            if (!keys_only) add_query_gradient<Shape>(keys + key * key_stride, n, masked, ds, block[b].sum);
          }
        for (int b = 0; b < count; ++b)
          if (!keys_only) put_query_gradient(block[b], scores.scale, dq);
      }
  }
}

#endif

}  // namespace hd
