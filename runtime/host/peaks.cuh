#pragma once
// Loops that measure the peaks of this processor. They only multiply and add in registers, or only move bytes. Compiled
// as kernels are.

#if defined(__AVX512F__)
#define WIDTH 64
#elif defined(__AVX__)
#define WIDTH 32
#else
#define WIDTH 16
#endif
#if defined(__clang__)
#pragma clang fp contract(fast)
#else
#pragma GCC optimize("fp-contract=fast")  // multiplication and addition are one instruction, where possible
#endif
namespace {
typedef float Floats __attribute__((vector_size(WIDTH)));
typedef unsigned Words __attribute__((vector_size(WIDTH)));
constexpr int kChains = 10;  // two units with a latency of four or five cycles: so many operations are under way
}  // namespace

// arguments: turns (long long), where a sum goes (float), where the number of operations goes (double)
extern "C" void peak_flops_host(void* const* arguments, int, int) {
  const long long turns = *(const long long*)arguments[0];
  Floats sums[kChains], factor = Floats{} + 0.999f, term = Floats{} + 1e-3f;
  for (int c = 0; c < kChains; ++c) sums[c] = Floats{} + (float)(c + 2);  // each value changes in each turn
  for (long long t = 0; t < turns; ++t) {
#if defined(__clang__)
#pragma clang loop unroll(full)
#else
#pragma GCC unroll 10
#endif
    for (int c = 0; c < kChains; ++c) sums[c] = sums[c] * factor + term;
  }
  Floats all{};
  for (int c = 0; c < kChains; ++c) all += sums[c];
  float sum = 0;
  for (unsigned i = 0; i < WIDTH / 4; ++i) sum += all[i];
  *(float*)arguments[1] = sum;
  *(double*)arguments[2] = 2.0 * kChains * (WIDTH / 4) * (double)turns;
}

// arguments: from, to (WIDTH-aligned), bytes of each (long long, a multiple of 4 WIDTH)
extern "C" void peak_copy_host(void* const* arguments, int, int) {
  const Words* from = (const Words*)arguments[0];
  Words* __restrict to = (Words*)arguments[1];
  const long long n = *(const long long*)arguments[2] / WIDTH;
  for (long long i = 0; i < n; i += 4) {
    const Words a = from[i], b = from[i + 1], c = from[i + 2], d = from[i + 3];
    to[i] = a, to[i + 1] = b, to[i + 2] = c, to[i + 3] = d;
  }
}

// arguments: from, where a word goes, bytes
extern "C" void peak_read_host(void* const* arguments, int, int) {
  const Words* from = (const Words*)arguments[0];
  const long long n = *(const long long*)arguments[2] / WIDTH;
  Words a{}, b{}, c{}, d{};
  for (long long i = 0; i < n; i += 4) a ^= from[i], b ^= from[i + 1], c ^= from[i + 2], d ^= from[i + 3];
  a ^= b ^ c ^ d;
  unsigned word = 0;
  for (unsigned i = 0; i < WIDTH / 4; ++i) word ^= a[i];
  *(unsigned*)arguments[1] = word;
}
