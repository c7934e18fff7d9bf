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

// --- whole numbers. 64 of them are one vector of 16 words, and become floats within it: the first byte of each word, then
// the second one, and so on. Rows of a are sorted in the same way, and end in zeros.
constexpr int64_t kBytesOfWord = 4, kWholes = kBytesOfWord * kLanes, kRowsAtOnce = 4;

int64_t sorted_length(int64_t k) { return (k + kWholes - 1) / kWholes * kWholes; }

[[gnu::always_inline]] inline void sort_row(const float* row, int64_t k, float* __restrict to) {
  for (; k >= kWholes; k -= kWholes, row += kWholes, to += kWholes)
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const float* const word = row + lane * kBytesOfWord;
      to[lane] = word[0], to[lane + kLanes] = word[1], to[lane + 2 * kLanes] = word[2], to[lane + 3 * kLanes] = word[3];
    }
  if (k == 0) return;
  std::fill_n(to, kWholes, 0.0F);
  for (int64_t i = 0; i < k; ++i) to[i % kBytesOfWord * kLanes + i / kBytesOfWord] = row[i];
}

template <class Vector>
struct Words {
  using Part [[gnu::vector_size(sizeof(Vector))]] = int32_t;
  static constexpr size_t kParts = Group<Vector>::kParts;
  Part part[kParts] = {};

  [[gnu::always_inline]] explicit Words(const int8_t* from) { std::memcpy(&part, from, sizeof part); }
  [[gnu::always_inline]] Words(const int8_t* from, int64_t count) {  // zeros behind these
    std::memcpy(&part, from, static_cast<size_t>(count));
  }
  template <int kByte>
  [[gnu::always_inline]] Group<Vector> floats() const {
    constexpr int kBits = 8, kHighest = kBits * static_cast<int>(kBytesOfWord - 1);
    Group<Vector> g;
    for (size_t i = 0; i < kParts; ++i)
      g.part[i] = __builtin_convertvector((part[i] << (kHighest - kBits * kByte)) >> kHighest, Vector);
    return g;
  }
};

// kRows sorted rows of a times kColumns rows of b.
template <class Vector, int kRows, int kColumns>
[[gnu::always_inline]] inline void dots_of_wholes(const RowProduct& p, int64_t row, int64_t column) {
  using G = Group<Vector>;
  G sums[kRows][kColumns] = {};
  const float* a = p.room;
  const int64_t length = sorted_length(p.k);
  const int8_t* b = p.wholes + column * p.b_stride;
  const auto add = [&](const Words<Vector>& words, int c) __attribute__((always_inline)) {
    const auto products = [&](const G& y, int64_t byte) __attribute__((always_inline)) {
      for (int r = 0; r < kRows; ++r) sums[r][c].add_product(G::load(a + r * length + byte * kLanes), y);
    };
    products(words.template floats<0>(), 0), products(words.template floats<1>(), 1);
    products(words.template floats<2>(), 2), products(words.template floats<3>(), 3);
  };
  int64_t i = 0;
  for (; i + kWholes <= p.k; i += kWholes, a += kWholes, b += kWholes)
    for (int c = 0; c < kColumns; ++c) {
      __builtin_prefetch(b + (c + kColumns) * p.b_stride);
      add(Words<Vector>(b + c * p.b_stride), c);
    }
  if (const int64_t rest = p.k - i; rest > 0)
    for (int c = 0; c < kColumns; ++c) add(Words<Vector>(b + c * p.b_stride, rest), c);
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kColumns; ++c)
      p.c[(row + r) * p.c_stride + column + c] = sums[r][c].sum() * (p.scale == nullptr ? 1.0F : p.scale[column + c]);
}

template <class Vector, int kRows>
[[gnu::always_inline]] inline void rows_of_wholes(const RowProduct& p, int64_t row) {
  constexpr int kAtOnce = sizeof(Vector) == 64 ? 4 : 1;
  for (int64_t r = 0; r < kRows; ++r) sort_row(p.a + (row + r) * p.k, p.k, p.room + r * sorted_length(p.k));
  int64_t column = 0;
  for (; column + kAtOnce <= p.n; column += kAtOnce) dots_of_wholes<Vector, kRows, kAtOnce>(p, row, column);
  for (; column < p.n; ++column) dots_of_wholes<Vector, kRows, 1>(p, row, column);
}

// A function of its own, so that the addition is not fused with the product: the bits are those of a bias that is added
// elsewhere.
[[gnu::noinline]] void add_bias(const RowProduct& p) {
  for (int64_t row = 0; row < p.m; ++row)
    for (int64_t column = 0; column < p.n; ++column) p.c[row * p.c_stride + column] += p.bias[column];
}

template <class Vector>
[[gnu::always_inline]] inline void multiply_rows(const RowProduct& p) {
  if (p.wholes == nullptr) return body<Vector>(p);
  int64_t row = 0;
  for (; row + kRowsAtOnce <= p.m; row += kRowsAtOnce) rows_of_wholes<Vector, kRowsAtOnce>(p, row);
  if (p.m - row >= 2) {
    rows_of_wholes<Vector, 2>(p, row);
    row += 2;
  }
  if (row < p.m) rows_of_wholes<Vector, 1>(p, row);
  if (p.bias != nullptr) add_bias(p);
}

void portable(const RowProduct& p) { multiply_rows<Half>(p); }

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void with_avx2(const RowProduct& p) { multiply_rows<Half>(p); }
[[gnu::target("avx512f,avx512dq,fma")]] void with_avx512(const RowProduct& p) { multiply_rows<Wide>(p); }
#endif

}  // namespace

int64_t room_for_wholes(const RowProduct& p) { return kRowsAtOnce * sorted_length(p.k); }

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
