// KeyedRandom: random numbers that depend on a key alone, the same on every machine. SplitMix64 (Steele, Lea, Flood
// 2014, doi:10.1145/2660193.2660195) over a counter that starts at a hash of the key.
//
//   KeyedRandom random(seed, epoch); random.below(10);
#pragma once
#include <cstdint>

namespace heddle::runtime::data {

class KeyedRandom {
 public:
  KeyedRandom(uint64_t seed, uint64_t position) : state_(mix(mix(seed + kGamma) ^ (position * kGamma + 1))) {}

  uint64_t next() {
    state_ += kGamma;
    return mix(state_);
  }
  // Uniform in [0, n), without bias (Lemire 2019, doi:10.1145/3230636).
  uint64_t below(uint64_t n) {
    Wide product = multiply(next(), n);
    if (product.low < n) {
      const uint64_t threshold = (0 - n) % n;
      while (product.low < threshold) product = multiply(next(), n);
    }
    return product.high;
  }
  // Uniform in [low, high), in steps of 2^-24 of the range.
  float uniform(float low, float high) { return low + (high - low) * (static_cast<float>(next() >> 40) * 0x1p-24F); }

 private:
  static constexpr uint64_t kGamma = 0x9E3779B97F4A7C15;
  struct Wide {
    uint64_t high, low;
  };
  static Wide multiply(uint64_t a, uint64_t b) {
    const uint64_t a0 = a & 0xFFFFFFFF, a1 = a >> 32, b0 = b & 0xFFFFFFFF, b1 = b >> 32;
    const uint64_t mid = a1 * b0 + (a0 * b0 >> 32), mid2 = a0 * b1 + (mid & 0xFFFFFFFF);
    return {a1 * b1 + (mid >> 32) + (mid2 >> 32), a * b};
  }
  static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  uint64_t state_;
};

}  // namespace heddle::runtime::data
