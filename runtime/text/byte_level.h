// GPT-2's alphabet of bytes: a printable character for each byte, as Radford et al. (2019) published it.
//
//   byte_level("é ") -> "Ã©Ġ"
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::runtime::text {

uint32_t byte_character(unsigned char byte);
void append_byte_level(std::string& out, std::string_view bytes);
// The inverse: the bytes that the characters stand for; nothing where a character is not in the alphabet.
std::optional<std::string> from_byte_level(std::string_view characters);
// GPT-2's regular expression, which splits a text into words, each with the space before it.
extern const char* const kByteLevelExpression;

}  // namespace heddle::runtime::text
