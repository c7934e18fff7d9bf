#include "runtime/text/byte_level.h"

#include <array>

#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

// Bytes that print in Latin-1 stand for themselves, others for the characters from U+0100 on, in their order.
bool stands_for_itself(unsigned byte) { return (byte > 32 && byte < 127) || (byte > 160 && byte != 173); }

struct Alphabet {
  std::array<uint32_t, 256> of_byte{};
  std::array<int, 324> to_byte{};
  Alphabet() {
    to_byte.fill(-1);
    uint32_t next = 256;
    for (unsigned byte = 0; byte < 256; ++byte) {
      of_byte[byte] = stands_for_itself(byte) ? byte : next++;
      to_byte[of_byte[byte]] = static_cast<int>(byte);
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet table;
  return table;
}

}  // namespace

const char* const kByteLevelExpression =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

uint32_t byte_character(unsigned char byte) { return alphabet().of_byte[byte]; }

void append_byte_level(std::string& out, std::string_view bytes) {
  for (const char c : bytes) append_code(out, byte_character(static_cast<unsigned char>(c)));
}

std::optional<std::string> from_byte_level(std::string_view characters) {
  std::string bytes;
  for (size_t at = 0; at < characters.size();) {
    const uint32_t code = next_code(characters, at);
    if (code >= alphabet().to_byte.size() || alphabet().to_byte[code] < 0) return std::nullopt;
    bytes += static_cast<char>(alphabet().to_byte[code]);
  }
  return bytes;
}

}  // namespace heddle::runtime::text
