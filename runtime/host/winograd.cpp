#include "runtime/host/winograd.h"

#include <algorithm>
#include <cstring>

namespace heddle::runtime::winograd {
namespace {

// One body, compiled for several instruction sets, as in row_product.cpp: lanes are channels, which share nothing.
using Wide = float __attribute__((vector_size(64)));
using Half = float __attribute__((vector_size(32)));

template <class Vector>
constexpr int64_t kLanes = static_cast<int64_t>(sizeof(Vector) / sizeof(float));

template <class Vector>
[[gnu::always_inline]] inline void load(Vector& v, const float* from) {
  std::memcpy(&v, from, sizeof v);
}
template <class Vector>
[[gnu::always_inline]] inline void store(float* to, const Vector& v) {
  std::memcpy(to, &v, sizeof v);
}

// B^T d, of interpolation at 0, 1, -1, 2, -2 and infinity.
template <class Vector>
[[gnu::always_inline]] inline void to_points(const Vector* d, Vector* v) {
  const Vector even = d[4] - 4.0F * d[2], odd = d[3] - 4.0F * d[1];
  const Vector half = d[4] - d[2], twice = 2.0F * (d[3] - d[1]);
  v[0] = 4.0F * d[0] - 5.0F * d[2] + d[4];
  v[1] = even + odd;
  v[2] = even - odd;
  v[3] = half + twice;
  v[4] = half - twice;
  v[5] = 4.0F * d[1] - 5.0F * d[3] + d[5];
}

// A^T m.
template <class Vector>
[[gnu::always_inline]] inline void from_points(const Vector* m, Vector* y) {
  const Vector sum = m[1] + m[2], difference = m[1] - m[2];
  const Vector outer = m[3] + m[4], apart = m[3] - m[4];
  y[0] = m[0] + sum + outer;
  y[1] = difference + 2.0F * apart;
  y[2] = sum + 4.0F * outer;
  y[3] = difference + 8.0F * apart + m[5];
}

// G g.
template <class Vector>
[[gnu::always_inline]] inline void filter_to_points(const Vector* g, Vector* u) {
  const Vector sides = (g[0] + g[2]) / 6.0F, middle = g[1] / 6.0F;
  const Vector near = g[0] / 24.0F + g[2] / 6.0F, half = g[1] / 12.0F;
  u[0] = g[0] / 4.0F;
  u[1] = -sides - middle;
  u[2] = middle - sides;
  u[3] = near + half;
  u[4] = near - half;
  u[5] = g[2];
}

// --- tiles ---

// Tiles that are worked off together: what they take stays in a core's caches, and the products' registers are full.
constexpr int64_t kTilesAtOnce = 12;

// Of a point the scratch holds a row of channels for each tile, first of what is read, then in its place of what is made.
inline int64_t row_floats(int64_t c, int64_t k) { return std::max(c, k); }
// Floats between the matrices of neighbouring points. A power of two would put all of them into a few lines of the cache.
inline int64_t apart(int64_t row) { return kTilesAtOnce * row + kChannels; }

struct Tile {
  int64_t image, row, column;  // of the result
};
inline Tile tile_at(const Images& p, int64_t index) {
  const int64_t down = (p.out[0] + kTile - 1) / kTile, across = (p.out[1] + kTile - 1) / kTile;
  return {index / (down * across), index / across % down * kTile, index % across * kTile};
}

alignas(64) constexpr float kZeros[kMostChannels] = {};  // padding: as many channels as there are

// Where the tile's elements are, those of the padding among zeros.
inline void find_patch(const Images& p, const Tile& t, const float** at) {
  const float* image = p.x + t.image * p.in[0] * p.in[1] * p.c;
  for (int64_t i = 0; i < kPatch; ++i)
    for (int64_t j = 0; j < kPatch; ++j) {
      const int64_t row = t.row + i - p.low[0], column = t.column + j - p.low[1];
      const bool inside = row >= 0 && row < p.in[0] && column >= 0 && column < p.in[1];
      at[i * kPatch + j] = inside ? image + (row * p.in[1] + column) * p.c : kZeros;
    }
}

template <class Vector>
[[gnu::always_inline]] inline void patch_to_points(const float* const* at, int64_t c, float* v, int64_t point_apart) {
  Vector columns[kPatch][kPatch];
  for (int64_t j = 0; j < kPatch; ++j) {
    Vector d[kPatch];
    for (int64_t i = 0; i < kPatch; ++i) load(d[i], at[i * kPatch + j] + c);
    to_points(d, columns[j]);
  }
  for (int64_t i = 0; i < kPatch; ++i) {
    Vector d[kPatch], points[kPatch];
    for (int64_t j = 0; j < kPatch; ++j) d[j] = columns[j][i];
    to_points(d, points);
    for (int64_t j = 0; j < kPatch; ++j) store(v + (i * kPatch + j) * point_apart, points[j]);
  }
}

template <class Vector>
[[gnu::always_inline]] inline void points_to_results(const Images& p, const Tile& t, int64_t k, const float* m,
                                                     int64_t point_apart) {
  Vector columns[kPatch][kTile];
  for (int64_t j = 0; j < kPatch; ++j) {
    Vector points[kPatch];
    for (int64_t i = 0; i < kPatch; ++i) load(points[i], m + (i * kPatch + j) * point_apart);
    from_points(points, columns[j]);
  }
  const int64_t rows = std::min(kTile, p.out[0] - t.row), across = std::min(kTile, p.out[1] - t.column);
  float* first = p.y + ((t.image * p.out[0] + t.row) * p.out[1] + t.column) * p.k + k;
  Vector bias = {};
  if (p.bias != nullptr) load(bias, p.bias + k);
  for (int64_t i = 0; i < kTile; ++i) {
    if (i >= rows) break;
    Vector points[kPatch], y[kTile];
    for (int64_t j = 0; j < kPatch; ++j) points[j] = columns[j][i];
    from_points(points, y);
    for (int64_t j = 0; j < kTile; ++j) {
      if (j >= across) break;
      if (p.bias != nullptr) y[j] += bias;
      if (p.relu) y[j] = y[j] < 0.0F ? Vector{} : y[j];  // nan stays
      store(first + (i * p.out[1] + j) * p.k, y[j]);
    }
  }
}

// --- products ---

// kRows tiles' channels times kGroups vectors of columns. The sums may take the channels' place: those are read before.
template <class Vector, int kRows, int kGroups>
[[gnu::always_inline]] inline void multiply(const Images& p, const float* v, const float* u, float* m) {
  const int64_t row = row_floats(p.c, p.k);
  Vector sums[kRows][kGroups] = {};
  for (int64_t c = 0; c < p.c; ++c) {
    Vector column[kGroups];
    for (int g = 0; g < kGroups; ++g) load(column[g], u + c * p.k + g * kLanes<Vector>);
    for (int r = 0; r < kRows; ++r) {
      const Vector x = v[r * row + c] - Vector{};
      for (int g = 0; g < kGroups; ++g) sums[r][g] += x * column[g];
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int g = 0; g < kGroups; ++g) store(m + r * row + g * kLanes<Vector>, sums[r][g]);
}

template <class Vector, int kRows, int kGroups>
[[gnu::always_inline]] inline void multiply_tiles(const Images& p, int64_t tiles, const float* v, const float* u,
                                                  float* m) {
  const int64_t row = row_floats(p.c, p.k);
  int64_t t = 0;
  for (; t + kRows <= tiles; t += kRows) multiply<Vector, kRows, kGroups>(p, v + t * row, u, m + t * row);
  for (; t + 4 <= tiles; t += 4) multiply<Vector, 4, kGroups>(p, v + t * row, u, m + t * row);
  for (; t < tiles; ++t) multiply<Vector, 1, kGroups>(p, v + t * row, u, m + t * row);
}

// Sums fill the registers: 32 of AVX-512, 16 of AVX2. Where they do not take all columns at once, the channels are read
// again behind the first of them, and from a copy.
template <class Vector>
[[gnu::always_inline]] inline void multiply_point(const Images& p, int64_t tiles, float* m, const float* u,
                                                  float* copy) {
  constexpr int64_t kWidth = kLanes<Vector>;
  constexpr bool kWide = kWidth == kChannels;
  constexpr int64_t kAtOnce = (kWide ? 4 : 2) * kWidth;
  const float* v = m;
  const bool in_two = kWide && p.k == 3 * kWidth;
  if (p.k > kAtOnce || in_two) {
    std::memcpy(copy, m, static_cast<size_t>(tiles * row_floats(p.c, p.k)) * sizeof(float));
    v = copy;
  }
  int64_t k = 0;
  if constexpr (kWide) {
    for (; k + 4 * kWidth <= p.k; k += 4 * kWidth) multiply_tiles<Vector, 6, 4>(p, tiles, v, u + k, m + k);
    for (; k + 2 * kWidth <= p.k; k += 2 * kWidth) multiply_tiles<Vector, 12, 2>(p, tiles, v, u + k, m + k);
    for (; k < p.k; k += kWidth) multiply_tiles<Vector, 12, 1>(p, tiles, v, u + k, m + k);
  } else {
    for (; k < p.k; k += 2 * kWidth) multiply_tiles<Vector, 6, 2>(p, tiles, v, u + k, m + k);
  }
}

template <class Vector>
[[gnu::always_inline]] inline void body(const Images& p) {
  const int64_t row = row_floats(p.c, p.k), point_apart = apart(row);
  float* const copy = p.scratch + kPoints * point_apart;
  const int64_t all = p.images * ((p.out[0] + kTile - 1) / kTile) * ((p.out[1] + kTile - 1) / kTile);
  for (int64_t first = 0; first < all; first += kTilesAtOnce) {
    const int64_t tiles = std::min(kTilesAtOnce, all - first);
    for (int64_t t = 0; t < tiles; ++t) {
      const float* at[kPoints];
      find_patch(p, tile_at(p, first + t), at);
      for (int64_t c = 0; c < p.c; c += kLanes<Vector>)
        patch_to_points<Vector>(at, c, p.scratch + t * row + c, point_apart);
    }
    for (int64_t i = 0; i < kPoints; ++i)
      multiply_point<Vector>(p, tiles, p.scratch + i * point_apart, p.filter + i * p.c * p.k, copy);
    for (int64_t t = 0; t < tiles; ++t) {
      const Tile tile = tile_at(p, first + t);
      for (int64_t k = 0; k < p.k; k += kLanes<Vector>)
        points_to_results<Vector>(p, tile, k, p.scratch + t * row + k, point_apart);
    }
  }
}

// --- filters ---

// Windows of neighbouring channels: row r and column s of them are at from + r * row + s * column.
template <class Vector>
[[gnu::always_inline]] inline void window_to_points(const float* from, int64_t row, int64_t column, float* u,
                                                    int64_t point_apart) {
  Vector rows[3][kPatch];  // by column of the window
  for (int64_t s = 0; s < 3; ++s) {
    Vector g[3];
    for (int64_t r = 0; r < 3; ++r) load(g[r], from + r * row + s * column);
    filter_to_points(g, rows[s]);
  }
  for (int64_t i = 0; i < kPatch; ++i) {
    const Vector g[3] = {rows[0][i], rows[1][i], rows[2][i]};
    Vector points[kPatch];
    filter_to_points(g, points);
    for (int64_t j = 0; j < kPatch; ++j) store(u + (i * kPatch + j) * point_apart, points[j]);
  }
}

// [c,3,3,k], turned: the result's channels are neighbours already.
template <class Vector>
[[gnu::always_inline]] inline void turned_filter(const Filter& f, int64_t begin, int64_t end) {
  for (int64_t c = 0; c < f.c; ++c)
    for (int64_t k = begin; k < end; k += kLanes<Vector>)
      window_to_points<Vector>(f.from + (c * 9 + 8) * f.k + k, -3 * f.k, -f.k, f.to + c * f.k + k, f.c * f.k);
}

// [k,3,3,c]: blocks of 16 by 16 channels are transposed.
template <class Vector>
[[gnu::always_inline]] inline void upright_filter(const Filter& f, int64_t begin, int64_t end) {
  constexpr int64_t kBlock = kChannels * kChannels;
  float block[kPoints * kBlock];
  for (int64_t k = begin; k < end; k += kChannels)
    for (int64_t c = 0; c < f.c; c += kChannels) {
      for (int64_t i = 0; i < kChannels; ++i)
        for (int64_t j = 0; j < kChannels; j += kLanes<Vector>)
          window_to_points<Vector>(f.from + (k + i) * 9 * f.c + c + j, 3 * f.c, f.c, block + i * kChannels + j, kBlock);
      for (int64_t point = 0; point < kPoints; ++point) {
        const float* from = block + point * kBlock;
        float* to = f.to + (point * f.c + c) * f.k + k;
        for (int64_t j = 0; j < kChannels; ++j)
          for (int64_t i = 0; i < kChannels; ++i) to[j * f.k + i] = from[i * kChannels + j];
      }
    }
}

template <class Vector>
[[gnu::always_inline]] inline void filter_body(const Filter& f, int64_t begin, int64_t end) {
  f.of_gradient ? turned_filter<Vector>(f, begin, end) : upright_filter<Vector>(f, begin, end);
}

void portable(const Images& p) { body<Half>(p); }
void portable_filter(const Filter& f, int64_t begin, int64_t end) { filter_body<Half>(f, begin, end); }

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void with_avx2(const Images& p) { body<Half>(p); }
[[gnu::target("avx2,fma")]] void filter_with_avx2(const Filter& f, int64_t begin, int64_t end) {
  filter_body<Half>(f, begin, end);
}
[[gnu::target("avx512f,avx512dq,fma")]] void with_avx512(const Images& p) { body<Wide>(p); }
[[gnu::target("avx512f,avx512dq,fma")]] void filter_with_avx512(const Filter& f, int64_t begin, int64_t end) {
  filter_body<Wide>(f, begin, end);
}
#endif

}  // namespace

int64_t scratch_floats(int64_t c, int64_t k) {
  const int64_t row = row_floats(c, k);
  return kPoints * apart(row) + kTilesAtOnce * row;
}

std::vector<Code> codes() {
  std::vector<Code> all;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
    all.push_back({"AVX-512", with_avx512, filter_with_avx512});
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    all.push_back({"AVX2", with_avx2, filter_with_avx2});
#endif
  all.push_back({"portable", portable, portable_filter});
  return all;
}

const Code& code() {
  static const Code kCode = codes().front();
  return kCode;
}

}  // namespace heddle::runtime::winograd
