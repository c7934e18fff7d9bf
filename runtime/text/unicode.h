// Functions for Unicode text: UTF-8, the character classes that tokenizers use, and normal forms, by utf8proc (Unicode
// 14).
//
//   for (size_t at = 0; at < text.size();) visit(next_code(text, at));
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "ir/diagnostic.h"

namespace heddle::runtime::text {

// Throws UserError at the first byte that is not UTF-8.
void require_utf8(const SourceFile& file);

// Returns the code point at `at`, and moves `at` behind it. The text must be valid UTF-8.
inline uint32_t next_code(std::string_view text, size_t& at) {
  const auto byte = [&] { return static_cast<uint32_t>(static_cast<unsigned char>(text[at++])); };
  const uint32_t first = byte();
  if (first < 0x80) return first;
  const auto more = [&](uint32_t code) { return (code << 6) | (byte() & 0x3fU); };
  if (first < 0xe0) return more(first & 0x1fU);
  if (first < 0xf0) return more(more(first & 0xfU));
  return more(more(more(first & 7U)));
}
void append_code(std::string& text, uint32_t code);

bool is_space(uint32_t code);    // White_Space
bool is_word(uint32_t code);     // \w of UTS 18: Alphabetic, marks, decimal digits, connectors, joiners
bool is_numeric(uint32_t code);  // Nd, Nl, No
// Classes as PyPI's `tokenizers` has them: of Unicode 8, and marks of Unicode 9 (ages.h).
bool is_punctuation(uint32_t code);  // P*, and the symbols of ASCII
bool is_control(uint32_t code);      // Cc, Cf, Co, Cs
bool is_nonspacing(uint32_t code);   // Mn
bool is_mark(uint32_t code);         // Mn, Mc, Me

// Normal forms of Unicode 9, as in `tokenizers`: a later code point is its own form.
enum class Form { nfc, nfd, nfkc, nfkd };
std::string normal_form(std::string_view text, Form form);
// Lower-cases each character by its full mapping, without regard to context.
std::string lowercase(std::string_view text);

bool is_ascii(std::string_view text);

}  // namespace heddle::runtime::text
