#include "runtime/data/convert.h"

namespace heddle::runtime::data {
namespace {

[[gnu::always_inline]] inline void convert(const uint8_t* __restrict__ from, float* __restrict__ to, int64_t n,
                                           float factor) {
  constexpr int kBlock = 32;  // a constant count, which compilers vectorise without further options
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock)
    for (int j = 0; j < kBlock; ++j) to[i + j] = static_cast<float>(from[i + j]) * factor;
  for (; i < n; ++i) to[i] = static_cast<float>(from[i]) * factor;
}

#ifdef __x86_64__
__attribute__((target("avx2"))) void convert_avx2(const uint8_t* from, float* to, int64_t n, float factor) {
  convert(from, to, n, factor);
}
#endif

}  // namespace

// The plain build targets any x86-64; pixels are read for each batch, so this one loop picks its vectors at run time.
void convert_scaled(const uint8_t* from, float* to, int64_t n, float factor) {
#ifdef __x86_64__
  static const bool wide = __builtin_cpu_supports("avx2") != 0;
  if (wide) return convert_avx2(from, to, n, factor);
#endif
  convert(from, to, n, factor);
}

}  // namespace heddle::runtime::data
