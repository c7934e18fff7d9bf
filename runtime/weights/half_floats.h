// Converts the 16-bit floats of files (f16 and bf16) from and to f32.
//
//   from_f16(0x3c00) -> 1      to_bf16(1 + 2^-9) -> 0x3f80      to_f16(65520) -> nothing
#pragma once
#include <cstdint>
#include <optional>

namespace heddle::runtime {

// Exact: every f16 and every bf16 is an f32.
float from_f16(uint16_t bits);
float from_bf16(uint16_t bits);
// Rounds a finite number to the nearest, ties to even. Returns nothing where the result would be infinite.
std::optional<uint16_t> to_f16(float value);
std::optional<uint16_t> to_bf16(float value);
// Of any number: infinities and nan stay what they are, and what is too large becomes an infinity.
uint16_t nearest_bf16(float value);

}  // namespace heddle::runtime
