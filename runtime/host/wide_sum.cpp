#include "runtime/host/wide_sum.h"

#include <cstring>

namespace heddle::runtime {
namespace {

// Written with vectors of the compiler's, as in keep_above_zero.cpp, and compiled for several instruction sets.
using Floats = float __attribute__((vector_size(32)));
using Doubles = double __attribute__((vector_size(64)));
constexpr int64_t kWidth = 8;

[[gnu::always_inline]] inline void add(double* total, const float* from, int64_t count, bool first) {
  int64_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    Floats narrow;
    std::memcpy(&narrow, from + i, sizeof narrow);
    Doubles sum = __builtin_convertvector(narrow, Doubles);
    if (!first) {
      Doubles before;
      std::memcpy(&before, total + i, sizeof before);
      sum += before;
    }
    std::memcpy(total + i, &sum, sizeof sum);
  }
  for (; i < count; ++i) total[i] = first ? static_cast<double>(from[i]) : total[i] + static_cast<double>(from[i]);
}

[[gnu::always_inline]] inline void round(float* to, const double* total, int64_t count) {
  int64_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    Doubles wide;
    std::memcpy(&wide, total + i, sizeof wide);
    const Floats narrow = __builtin_convertvector(wide, Floats);
    std::memcpy(to + i, &narrow, sizeof narrow);
  }
  for (; i < count; ++i) to[i] = static_cast<float>(total[i]);
}

void add_portable(double* total, const float* from, int64_t count, bool first) { add(total, from, count, first); }
void round_portable(float* to, const double* total, int64_t count) { round(to, total, count); }

#if defined(__x86_64__)
[[gnu::target("avx2")]] void add_avx2(double* total, const float* from, int64_t count, bool first) {
  add(total, from, count, first);
}
[[gnu::target("avx2")]] void round_avx2(float* to, const double* total, int64_t count) { round(to, total, count); }
[[gnu::target("avx512f,avx512dq")]] void add_avx512(double* total, const float* from, int64_t count, bool first) {
  add(total, from, count, first);
}
[[gnu::target("avx512f,avx512dq")]] void round_avx512(float* to, const double* total, int64_t count) {
  round(to, total, count);
}
#endif

struct Functions {
  void (*add)(double*, const float*, int64_t, bool);
  void (*round)(float*, const double*, int64_t);
};
Functions choose() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return {add_avx512, round_avx512};
  if (__builtin_cpu_supports("avx2")) return {add_avx2, round_avx2};
#endif
  return {add_portable, round_portable};
}

const Functions& functions() {
  static const Functions kFunctions = choose();
  return kFunctions;
}

}  // namespace

void add_wide(double* total, const float* from, int64_t count, bool first) {
  functions().add(total, from, count, first);
}
void round_wide(float* to, const double* total, int64_t count) { functions().round(to, total, count); }

}  // namespace heddle::runtime
