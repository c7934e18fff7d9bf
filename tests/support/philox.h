// Philox 4x32 with seven rounds, written from the paper (Salmon et al. 2011) and not from the product's text.
#pragma once
#include <array>
#include <cstdint>

namespace heddle::testing {

// Four random words of a counter and a key.
inline std::array<uint32_t, 4> philox(std::array<uint32_t, 4> c, uint32_t k0, uint32_t k1) {
  for (int round = 0; round < 7; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0], b = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(a)};
    k0 += 0x9E3779B9, k1 += 0xBB67AE85;
  }
  return c;
}

}  // namespace heddle::testing
