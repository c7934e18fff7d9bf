// ByteLevel and ByteFallback: bytes out of tokens.
#include <charconv>

#include "runtime/json_text.h"
#include "runtime/text/byte_level.h"
#include "runtime/text/part_def.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

// What is no UTF-8 becomes U+FFFD, one for each longest beginning of a sequence, as the WHATWG's decoder has it.
std::string valid_utf8(std::string_view bytes) {
  std::string out;
  for (size_t at = 0; at < bytes.size();) {
    const auto byte = [&](size_t i) { return at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U; };
    const unsigned first = byte(0);
    const size_t length = first < 0x80   ? 1
                          : first < 0xc2 ? 0
                          : first < 0xe0 ? 2
                          : first < 0xf0 ? 3
                          : first < 0xf5 ? 4
                                         : 0;
    size_t valid = length == 0 ? 0 : 1;
    for (; valid > 0 && valid < length; ++valid) {
      const unsigned low = valid > 1 ? 0x80 : first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
      const unsigned high = valid > 1 ? 0xbf : first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
      if (byte(valid) < low || byte(valid) > high) break;
    }
    if (length > 0 && valid == length)
      out += bytes.substr(at, length);
    else
      out += "\uFFFD";
    at += valid == 0 ? 1 : valid;
  }
  return out;
}

Tokens decode_byte_level(const Tokens& tokens) {
  std::string bytes;
  for (const std::string& token : tokens) {
    const std::optional<std::string> found = from_byte_level(token);
    bytes += found ? *found : token;
  }
  return {valid_utf8(bytes)};
}

// <0x41> -> its byte.
std::optional<char> byte_of(std::string_view token) {
  unsigned value = 0;
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  const auto [end, error] = std::from_chars(token.data() + 3, token.data() + 5, value, 16);
  return error == std::errc() && end == token.data() + 5 ? std::optional(static_cast<char>(value)) : std::nullopt;
}

Tokens decode_byte_fallback(const Tokens& tokens) {
  Tokens out;
  std::string bytes;
  const auto flush = [&] {
    if (bytes.empty()) return;
    if (is_utf8(bytes))
      out.push_back(bytes);
    else
      out.insert(out.end(), bytes.size(), "\uFFFD");
    bytes.clear();
  };
  for (const std::string& token : tokens) {
    if (const std::optional<char> byte = byte_of(token)) {
      bytes += *byte;
      continue;
    }
    flush();
    out.push_back(token);
  }
  flush();
  return out;
}

const RegisterPart byte_level(DecoderDef{
    "ByteLevel", [](const JsonValue& settings) -> Decoder {
      require_members(settings, {"type", "add_prefix_space", "trim_offsets", "use_regex"}, "ByteLevel");
      return decode_byte_level;
    }});
const RegisterPart byte_fallback(DecoderDef{"ByteFallback", [](const JsonValue& settings) -> Decoder {
                                              require_members(settings, {"type"}, "ByteFallback");
                                              return decode_byte_fallback;
                                            }});

}  // namespace
}  // namespace heddle::runtime::text
