#pragma once
// Small kernels with known answers, which test a system compiler before its code is used. They look like generated
// text, and contain the forms of loops that compilers have been found to get wrong. The expected results are computed
// by loops over volatile counters, which no compiler vectorises. The shared object exports one function,
// heddle_known_answers.
namespace {

#if defined(__clang__)
#define IVDEP _Pragma("clang loop vectorize(assume_safety)")
#define LOOP
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define IVDEP _Pragma("GCC ivdep")
#define LOOP _Pragma("GCC unroll 1")
#define UNROLL _Pragma("GCC unroll 32")
#pragma GCC optimize("no-tree-pre", "no-ivopts")  // as in generated text
#endif
#define KERNEL static __attribute__((noinline)) void

constexpr int kMost = 4096, kMargin = 64;  // elements; kernels may read one vector beyond an array
float inputs[kMost + 2 * kMargin], results[kMost + 2 * kMargin];
unsigned char bytes[kMost + 2 * kMargin];
float* const x = inputs + kMargin;
float* const y = results + kMargin;
unsigned char* const u = bytes + kMargin;
using Kernel = void (*)(const float* __restrict, float* __restrict, int, int);

// The inputs are short binary fractions: their sums are exact in any order.
void fill() {
  for (volatile int i = 0; i < kMost; i = i + 1) {
    x[i] = (float)(i * 7919 % 257 - 128) / 16;
    u[i] = (unsigned char)(i * 151);
  }
}
void run(Kernel kernel, int first, int last) {
  const volatile Kernel unknown = kernel;  // so that nothing of this call becomes part of the kernel
  for (volatile int i = 0; i < kMost; i = i + 1) y[i] = -1000;
  unknown(x, y, first, last);
}
bool same(float a, float b) { return __builtin_memcmp(&a, &b, sizeof a) == 0; }

// A pad: rows of a few columns, with `low` rows before them and `high` rows after them.
template <int columns, int low, int high>
struct Guarded {
  static constexpr int kRows = 12;
  static bool inside(int row) { return row >= low && row < low + kRows; }
  KERNEL kernel(const float* __restrict from, float* __restrict to, int first, int last) {
    for (int row = first; row < last; ++row)
      IVDEP LOOP for (int column = 0; column < columns; ++column) {
        const float a = row - low >= 0 && row - low < kRows ? float(from[row * columns + column - low * columns]) : 0.0f;
        const float b = row - low >= 0 && row - low < kRows ? a : 0.5f;
        to[row * columns + column] = b;
      }
  }
  static bool holds() {
    run(kernel, 0, kRows + low + high);
    for (volatile int row = 0; row < kRows + low + high; row = row + 1)
      for (volatile int column = 0; column < columns; column = column + 1)
        if (!same(y[row * columns + column], inside(row) ? x[(row - low) * columns + column] : 0.5f)) return false;
    return true;
  }
};

// The same within a row: the guard holds for a part of a vector.
template <int columns>
struct GuardedRow {
  KERNEL kernel(const float* __restrict from, float* __restrict to, int first, int last) {
    IVDEP LOOP for (int column = first; column < last; ++column) {
      const float a = column - 1 >= 0 && column - 1 < columns - 3 ? float(from[column - 1]) : 0.0f;
      to[column] = column - 1 >= 0 && column - 1 < columns - 3 ? a : 0.5f;
    }
  }
  static bool holds() {
    run(kernel, 0, columns);
    for (volatile int i = 0; i < columns; i = i + 1)
      if (!same(y[i], i >= 1 && i < columns - 2 ? x[i - 1] : 0.5f)) return false;
    return true;
  }
};

// Sums of columns. An array fills kLength elements from element kAt on; the others are 0.5.
template <int columns>
struct GuardedSums {
  static constexpr int kRows = 65, kAt = 61, kLength = 36;
  static bool inside(int i) { return i >= kAt && i < kAt + kLength; }
  KERNEL kernel(const float* __restrict from, float* __restrict to, int first, int last) {
    float sums[columns] = {};
    for (int row = first; row < last; ++row)
      IVDEP LOOP for (int column = 0; column < columns; ++column) {
        const int i = row * columns + column - kAt;
        const float a = i >= 0 && i < kLength ? float(from[i]) : 0.0f;
        sums[column] += i >= 0 && i < kLength ? a : 0.5f;
      }
    for (int column = 0; column < columns; ++column) to[column] = sums[column];
  }
  static bool holds() {
    run(kernel, 0, kRows);
    for (volatile int column = 0; column < columns; column = column + 1) {
      volatile float sum = 0;
      for (volatile int row = 0; row < kRows; row = row + 1) {
        const int i = row * columns + column;
        sum = sum + (inside(i) ? x[i - kAt] : 0.5f);
      }
      if (!same(y[column], sum)) return false;
    }
    return true;
  }
};

// A sum over two axes, the inner one reversed.
template <int outer, int inner>
struct ReversedSum {
  KERNEL kernel(const float* __restrict from, float* __restrict to, int first, int last) {
    IVDEP LOOP for (int column = first; column < last; ++column) {
      float sum = 0;
      LOOP for (int i = 0; i < outer; ++i)
        LOOP for (int k = 0; k < inner; ++k) sum += from[column * inner + i * 2 * inner - k + inner - 1];
      to[column] = sum;
    }
  }
  static bool holds() {
    run(kernel, 0, 2);
    for (volatile int column = 0; column < 2; column = column + 1) {
      volatile float sum = 0;
      for (volatile int i = 0; i < outer; i = i + 1)
        for (volatile int k = 0; k < inner; k = k + 1) sum = sum + x[column * inner + i * 2 * inner + k];
      if (!same(y[column], sum)) return false;
    }
    return true;
  }
};

// The maximum of windows of 3 x 3 over 11 x 11 points. Points outside are never chosen.
template <int channels>
struct Window {
  static constexpr int kSide = 11;
  KERNEL kernel(const float* __restrict from, float* __restrict to, int first, int last) {
    for (int row = first; row < last; ++row)
      IVDEP LOOP for (int column = 0; column < channels; ++column) {
        float most = -1e30f;
        UNROLL for (int i = 0; i < 3; ++i)
          UNROLL for (int k = 0; k < 3; ++k) {
            const int down = row / kSide + i - 1, right = row % kSide + k - 1;
            const bool inside = down >= 0 && down < kSide && right >= 0 && right < kSide;
            const float a = inside ? float(from[(down * kSide + right) * channels + column]) : 0.0f;
            if (inside) most = a > most ? a : most;
          }
        to[row * channels + column] = most;
      }
  }
  static float at(int row, int column) {
    volatile float most = -1e30f;
    for (volatile int i = 0; i < 9; i = i + 1) {
      const int down = row / kSide + i / 3 - 1, right = row % kSide + i % 3 - 1;
      if (down < 0 || down >= kSide || right < 0 || right >= kSide) continue;
      const float a = x[(down * kSide + right) * channels + column];
      if (a > most) most = a;
    }
    return most;
  }
  static bool holds() {
    run(kernel, 0, kSide * kSide);
    for (volatile int row = 0; row < kSide * kSide; row = row + 1)
      for (volatile int column = 0; column < channels; column = column + 1)
        if (!same(y[row * channels + column], at(row, column))) return false;
    return true;
  }
};

template <int stride>
struct Strided {
  KERNEL kernel(const float* __restrict from, float* __restrict to, int first, int last) {
    IVDEP LOOP for (int column = first; column < last; ++column) to[column] = from[column * stride + 1] + from[200 - column];
  }
  static bool holds() {
    run(kernel, 0, 101);
    for (volatile int i = 0; i < 101; i = i + 1)
      if (!same(y[i], x[i * stride + 1] + x[200 - i])) return false;
    return true;
  }
};

// Bytes in, sums modulo 256 and their float.
struct Narrow {
  KERNEL kernel(const float* __restrict, float* __restrict to, int first, int last) {
    IVDEP LOOP for (int column = first; column < last; ++column)
      to[column] = (float)(unsigned char)(u[column] * 3 + u[column + 5]) + (float)(signed char)u[column];
  }
  static bool holds() {
    run(kernel, 0, 333);
    for (volatile int i = 0; i < 333; i = i + 1) {
      volatile unsigned sum = u[i] * 3u + u[i + 5];
      volatile int low = u[i] >= 128 ? (int)u[i] - 256 : (int)u[i];
      if (!same(y[i], (float)(sum % 256) + (float)low)) return false;
    }
    return true;
  }
};

// --- What the options promise: no contraction, no reassociation, nan, infinity, -0 and subnormals as IEEE 754 has them ---

struct NoContraction {
  KERNEL kernel(const float* __restrict from, float* __restrict to, int first, int last) {
    IVDEP LOOP for (int column = first; column < last; ++column) to[column] = from[column] * from[column] - from[column + 64];
  }
  static bool holds() {
    const float a = 1 + 0x1p-12f;  // a * a is 1 + 2^-11 + 2^-24, and 1 + 2^-11 when it is rounded
    for (volatile int i = 0; i < 64; i = i + 1) x[i] = a, x[i + 64] = 1 + 0x1p-11f;
    run(kernel, 0, 37);
    bool right = true;
    for (volatile int i = 0; i < 37; i = i + 1) right = right && same(y[i], 0);
    fill();
    return right;
  }
};

struct NoReassociation {
  KERNEL kernel(const float* __restrict from, float* __restrict to, int, int last) {
    float sum = 0;
    for (int column = 0; column < last; ++column) sum += from[column];
    to[0] = sum;
  }
  static bool holds() {
    for (volatile int i = 0; i < 64; i = i + 1) x[i] = i % 4 == 0 ? 1e8f : i % 4 == 2 ? -1e8f : 1;
    run(kernel, 0, 64);
    volatile float sum = 0;
    for (volatile int i = 0; i < 64; i = i + 1) sum = sum + x[i];
    const bool right = same(y[0], sum);
    fill();
    return right;
  }
};

struct SpecialValues {
  KERNEL kernel(const float* __restrict from, float* __restrict to, int first, int last) {
    IVDEP LOOP for (int column = first; column < last; ++column) {
      const float a = from[column];
      to[column] = a != a ? 1.0f : a - a != 0 ? 2.0f : a < 0x1p-126f && a > 0 ? a * 0.5f : -a;
    }
  }
  static bool holds() {
    const float special[4] = {__builtin_nanf(""), __builtin_inff(), 0x1p-130f, 0.0f};
    for (volatile int i = 0; i < 64; i = i + 1) x[i] = special[i % 4];
    run(kernel, 0, 61);
    const float expected[4] = {1, 2, 0x1p-131f, -0.0f};
    bool right = true;
    for (volatile int i = 0; i < 61; i = i + 1) right = right && same(y[i], expected[i % 4]);
    fill();
    return right;
  }
};

struct Case {
  const char* name;
  bool (*holds)();
};
template <int columns>
constexpr Case guarded(const char* name) {
  return {name, [] {
            return Guarded<columns, 1, 1>::holds() && Guarded<columns, 1, 2>::holds() && Guarded<columns, 2, 1>::holds() &&
                   Guarded<columns, 3, 3>::holds();
          }};
}

constexpr Case kCases[] = {
    guarded<1>("guarded rows of 1"),
    guarded<2>("guarded rows of 2"),
    guarded<3>("guarded rows of 3"),
    guarded<4>("guarded rows of 4"),
    guarded<8>("guarded rows of 8"),
    guarded<17>("guarded rows of 17"),
    {"a guarded row of 8", GuardedRow<8>::holds},
    {"a guarded row of 37", GuardedRow<37>::holds},
    {"guarded sums of 2 columns", GuardedSums<2>::holds},
    {"guarded sums of 4 columns", GuardedSums<4>::holds},
    {"guarded sums of 8 columns", GuardedSums<8>::holds},
    {"a sum over a reversed axis of 3", ReversedSum<100, 3>::holds},
    {"a sum over a reversed axis of 16", ReversedSum<16, 16>::holds},
    {"a sum over a reversed axis of 37", ReversedSum<7, 37>::holds},
    {"windows over 1 channel", Window<1>::holds},
    {"windows over 3 channels", Window<3>::holds},
    {"windows over 16 channels", Window<16>::holds},
    {"a stride of 2", Strided<2>::holds},
    {"a stride of 3", Strided<3>::holds},
    {"sums of bytes", Narrow::holds},
    {"no contraction", NoContraction::holds},
    {"no reassociation", NoReassociation::holds},
    {"special values", SpecialValues::holds},
};

}  // namespace

// Writes the names of the cases whose answer is wrong, separated by ", ", and returns the number of cases.
extern "C" __attribute__((visibility("default"))) int heddle_known_answers(char* wrong, int size) {
  int used = 0, count = 0;
  fill();
  for (const Case& c : kCases) {
    ++count;
    if (c.holds()) continue;
    for (const char* from = used > 0 ? ", " : ""; *from != 0 && used + 1 < size; ++from) wrong[used++] = *from;
    for (const char* from = c.name; *from != 0 && used + 1 < size; ++from) wrong[used++] = *from;
  }
  wrong[used] = 0;
  return count;
}
