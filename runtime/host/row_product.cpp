#include "runtime/host/row_product.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace heddle::runtime {
namespace {

// One body, compiled for several instruction sets, as in keep_above_zero.cpp. A group of 16 numbers is one vector or two:
// each lane adds the same numbers in the same order in both. Products are fused with their sums where the processor can
// (-ffp-contract=fast of this file, in runtime/CMakeLists.txt).
constexpr int64_t kLanes = 16;
constexpr int64_t kRun = 1024;  // products that are added one after another; runs are added to each other
using Wide = float __attribute__((vector_size(64)));
using Half = float __attribute__((vector_size(32)));
using Quarter = float __attribute__((vector_size(16)));

template <class Vector>
struct Group {
  static constexpr size_t kParts = 64 / sizeof(Vector);
  Vector part[kParts];

  [[gnu::always_inline]] static Group zero() { return {}; }
  [[gnu::always_inline]] static Group load(const float* from) {
    Group g;
    std::memcpy(&g, from, sizeof g);
    return g;
  }
  [[gnu::always_inline]] static Group load(const float* from, int64_t count) {  // zeros behind these
    Group g{};
    std::memcpy(&g, from, static_cast<size_t>(count) * sizeof(float));
    return g;
  }
  [[gnu::always_inline]] static Group all(float x) {
    Group g;
    for (size_t i = 0; i < kParts; ++i) g.part[i] = x - Vector{};
    return g;
  }
  [[gnu::always_inline]] void add_product(const Group& x, const Group& y) {
    for (size_t i = 0; i < kParts; ++i) part[i] += x.part[i] * y.part[i];
  }
  [[gnu::always_inline]] void add(const Group& x) {
    for (size_t i = 0; i < kParts; ++i) part[i] += x.part[i];
  }
  [[gnu::always_inline]] float sum() const {
    Half low, high;
    std::memcpy(&low, part, sizeof low);
    std::memcpy(&high, reinterpret_cast<const char*>(part) + sizeof low, sizeof high);
    low += high;
    const Quarter four = __builtin_shufflevector(low, low, 0, 1, 2, 3) + __builtin_shufflevector(low, low, 4, 5, 6, 7);
    return (four[0] + four[2]) + (four[1] + four[3]);
  }
};

// kRows rows of a times kColumns rows of b.
template <class Vector, int kRows, int kColumns>
[[gnu::always_inline]] inline void dots(const RowProduct& p, int64_t row, int64_t column) {
  using G = Group<Vector>;
  G sums[kRows][kColumns] = {};
  const float* a = p.a + row * p.k;
  const float* b = p.b + column * p.b_stride;
  const auto turn = [&](auto load) __attribute__((always_inline)) {
    G x[kRows];
    for (int r = 0; r < kRows; ++r) x[r] = load(a + r * p.k);
    for (int c = 0; c < kColumns; ++c) {
      const G y = load(b + c * p.b_stride);
      for (int r = 0; r < kRows; ++r) sums[r][c].add_product(x[r], y);
    }
  };
  int64_t i = 0;
  for (; i + kLanes <= p.k; i += kLanes, a += kLanes, b += kLanes) {
    // The next rows of b, which the processor does not foresee at the end of a page.
    for (int c = 0; c < kColumns; ++c) __builtin_prefetch(b + (c + kColumns) * p.b_stride);
    turn([](const float* from) __attribute__((always_inline)) { return G::load(from); });
  }
  if (const int64_t rest = p.k - i; rest > 0)
    turn([rest](const float* from) __attribute__((always_inline)) { return G::load(from, rest); });
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kColumns; ++c)
      p.c[(row + r) * p.c_stride + column + c] = sums[r][c].sum() + (p.bias == nullptr ? 0.0F : p.bias[column + c]);
}

template <class Vector, int kColumns>
[[gnu::always_inline]] inline void dots_of_columns(const RowProduct& p, int64_t column) {
  int64_t row = 0;
  for (; row + 4 <= p.m; row += 4) dots<Vector, 4, kColumns>(p, row, column);
  if (p.m - row >= 2) {
    dots<Vector, 2, kColumns>(p, row, column);
    row += 2;
  }
  if (row < p.m) dots<Vector, 1, kColumns>(p, row, column);
}

// How much of a row of a is not zero.
inline int64_t used(const RowProduct& p, int64_t row) {
  int64_t k = p.k;
  if (p.ends_in_zeros)
    while (k > 0 && p.a[row * p.k + k - 1] == 0.0F) --k;
  return k;
}

// kRows rows of a times some groups of columns of b, of which the last one has `last` columns.
template <class Vector, int kRows, int kGroups>
[[gnu::always_inline]] inline void columns(const RowProduct& p, int64_t row, int64_t column, int64_t last) {
  using G = Group<Vector>;
  constexpr int64_t kAhead = 8;
  G totals[kRows][kGroups] = {};
  int64_t k = 0;
  for (int r = 0; r < kRows; ++r) k = std::max(k, used(p, row + r));
  const auto turns = [&](auto load_last, int64_t begin, int64_t end) __attribute__((always_inline)) {
    G sums[kRows][kGroups] = {};
    for (int64_t i = begin; i < end; ++i) {
      const float* b = p.b + i * p.b_stride + column;
      G y[kGroups];
      for (int g = 0; g < kGroups; ++g) {
        y[g] = g + 1 < kGroups ? G::load(b + g * kLanes) : load_last(b + g * kLanes);
        __builtin_prefetch(b + kAhead * p.b_stride + g * kLanes);
      }
      for (int r = 0; r < kRows; ++r) {
        const G x = G::all(p.a[(row + r) * p.k + i]);
        for (int g = 0; g < kGroups; ++g) sums[r][g].add_product(x, y[g]);
      }
    }
    for (int r = 0; r < kRows; ++r)
      for (int g = 0; g < kGroups; ++g) totals[r][g].add(sums[r][g]);
  };
  for (int64_t begin = 0; begin < k; begin += kRun) {
    const int64_t end = std::min(begin + kRun, k);
    if (last == kLanes)
      turns(
          [](const float* from) __attribute__((always_inline)) { return G::load(from); }, begin, end);
    else
      turns(
          [last](const float* from) __attribute__((always_inline)) { return G::load(from, last); }, begin, end);
  }
  for (int r = 0; r < kRows; ++r)
    for (int g = 0; g < kGroups; ++g) {
      const int64_t at = column + g * kLanes, count = g + 1 < kGroups ? kLanes : last;
      if (p.bias != nullptr) totals[r][g].add(G::load(p.bias + at, count));
      std::memcpy(p.c + (row + r) * p.c_stride + at, &totals[r][g], static_cast<size_t>(count) * sizeof(float));
    }
}

template <class Vector, int kGroups>
[[gnu::always_inline]] inline void columns_of_all(const RowProduct& p, int64_t column, int64_t last) {
  int64_t row = 0;
  for (; row + 4 <= p.m; row += 4) columns<Vector, 4, kGroups>(p, row, column, last);
  for (; row < p.m; ++row) columns<Vector, 1, kGroups>(p, row, column, last);
}

// Registers hold four rows by as many groups as this, of b's rows or of its columns.
template <class Vector>
[[gnu::always_inline]] inline void body(const RowProduct& p) {
  constexpr int kAtOnce = sizeof(Vector) == 64 ? 4 : 1;
  int64_t column = 0;
  if (p.transposed) {
    for (; column + kAtOnce <= p.n; column += kAtOnce) dots_of_columns<Vector, kAtOnce>(p, column);
    for (; column < p.n; ++column) dots_of_columns<Vector, 1>(p, column);
    return;
  }
  for (; column + kAtOnce * kLanes <= p.n; column += kAtOnce * kLanes)
    columns_of_all<Vector, kAtOnce>(p, column, kLanes);
  for (; column < p.n; column += kLanes) columns_of_all<Vector, 1>(p, column, std::min(kLanes, p.n - column));
}

void portable(const RowProduct& p) { body<Half>(p); }

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void with_avx2(const RowProduct& p) { body<Half>(p); }
[[gnu::target("avx512f,avx512dq,fma")]] void with_avx512(const RowProduct& p) { body<Wide>(p); }
#endif

}  // namespace

std::vector<RowProductCode> row_product_codes() {
  std::vector<RowProductCode> codes;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
    codes.push_back({"AVX-512", true, with_avx512});
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) codes.push_back({"AVX2", true, with_avx2});
#endif
  codes.push_back({"portable", false, portable});
  return codes;
}

// Rows at the end that are those before them are copied: a text alone is in a batch of two.
void multiply(const RowProduct& p) {
  static const auto kMultiply = row_product_codes().front().multiply;
  const auto bytes = [](int64_t floats) { return static_cast<size_t>(floats) * sizeof(float); };
  RowProduct different = p;
  for (int64_t& m = different.m; m > 1; --m)
    if (std::memcmp(p.a + (m - 1) * p.k, p.a + (m - 2) * p.k, bytes(p.k)) != 0) break;
  kMultiply(different);
  for (int64_t row = different.m; row < p.m; ++row)
    std::memcpy(p.c + row * p.c_stride, p.c + (row - 1) * p.c_stride, bytes(p.n));
}

}  // namespace heddle::runtime
