#include "runtime/host/keep_above_zero.h"

#include <cstring>

namespace heddle::runtime {
namespace {

// One body, compiled for several instruction sets. Written with vectors of the compiler's: loops are not vectorised at
// the level that this file is compiled with. A comparison with nan is false, so that nan is not replaced.
using Floats = float __attribute__((vector_size(64)));
using Words = int32_t __attribute__((vector_size(64)));

[[gnu::always_inline]] inline void body(float* x, int64_t count) {
  constexpr auto kWidth = static_cast<int64_t>(sizeof(Floats) / sizeof(float));
  int64_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
    Floats value;
    std::memcpy(&value, x + i, sizeof value);
    const Words below = value < Floats{};
    Words kept;
    std::memcpy(&kept, &value, sizeof kept);
    kept &= ~below;
    std::memcpy(x + i, &kept, sizeof kept);
  }
  for (; i < count; ++i) x[i] = x[i] < 0.0F ? 0.0F : x[i];
}

void portable(float* x, int64_t count) { body(x, count); }

#if defined(__x86_64__)
[[gnu::target("avx2")]] void with_avx2(float* x, int64_t count) { body(x, count); }
[[gnu::target("avx512f,avx512dq")]] void with_avx512(float* x, int64_t count) { body(x, count); }
#endif

using Function = void (*)(float*, int64_t);
Function choose() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return with_avx512;
  if (__builtin_cpu_supports("avx2")) return with_avx2;
#endif
  return portable;
}

}  // namespace

void keep_above_zero(float* first, int64_t count) {
  static const Function kFunction = choose();
  kFunction(first, count);
}

}  // namespace heddle::runtime
