#include "runtime/text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "runtime/text/ages.h"

namespace heddle::runtime::text {
namespace {

utf8proc_category_t category(uint32_t code) { return utf8proc_category(static_cast<utf8proc_int32_t>(code)); }
// As Unicode 8 had it: eight code points are another thing today.
utf8proc_category_t category_of_8(uint32_t code) {
  switch (code) {
    case 0x166d:
    case 0x111c9: return UTF8PROC_CATEGORY_PO;
    case 0x1734: return UTF8PROC_CATEGORY_MN;
    case 0x1cf2:
    case 0x1cf3:
    case 0xa9bd: return UTF8PROC_CATEGORY_MC;
    case 0x1885:
    case 0x1886: return UTF8PROC_CATEGORY_LO;
    default: return is_later_than_8(code) ? UTF8PROC_CATEGORY_CN : category(code);
  }
}
bool between(uint32_t code, uint32_t low, uint32_t high) { return code >= low && code <= high; }

// Alphabetic, though of category So: letters in circles and squares.
bool is_enclosed_letter(uint32_t code) {
  return between(code, 0x24b6, 0x24e9) || between(code, 0x1f130, 0x1f149) || between(code, 0x1f150, 0x1f169) ||
         between(code, 0x1f170, 0x1f189);
}

void append_normal(std::string& out, std::string_view text, Form form) {
  int options = UTF8PROC_STABLE;
  options |= form == Form::nfc || form == Form::nfkc ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  if (form == Form::nfkc || form == Form::nfkd) options |= UTF8PROC_COMPAT;
  utf8proc_uint8_t* raw = nullptr;
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &raw, static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owned(raw, std::free);
  if (size < 0) throw std::bad_alloc();  // the text is valid: only memory can be missing
  out.append(reinterpret_cast<const char*>(raw), static_cast<size_t>(size));
}

}  // namespace

void require_utf8(const SourceFile& file) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(file.text.data());
  const auto size = static_cast<utf8proc_ssize_t>(file.text.size());
  for (utf8proc_ssize_t at = 0; at < size;) {
    if (bytes[at] < 0x80) {
      ++at;
      continue;
    }
    utf8proc_int32_t code = 0;
    const utf8proc_ssize_t length = utf8proc_iterate(bytes + at, size - at, &code);
    if (length <= 0)
      throw UserError(Location{&file, static_cast<uint32_t>(at), static_cast<uint32_t>(at + 1)}, "not valid UTF-8",
                      "convert the file first: iconv -f ENCODING -t UTF-8 FILE");
    at += length;
  }
}

void append_code(std::string& text, uint32_t code) {
  const auto tail = [&](uint32_t shift) { return static_cast<char>(0x80U | ((code >> shift) & 0x3fU)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += {static_cast<char>(0xc0U | (code >> 6)), tail(0)};
  } else if (code < 0x10000) {
    text += {static_cast<char>(0xe0U | (code >> 12)), tail(6), tail(0)};
  } else {
    text += {static_cast<char>(0xf0U | (code >> 18)), tail(12), tail(6), tail(0)};
  }
}

bool is_space(uint32_t code) {
  if (code < 0x80) return between(code, 9, 13) || code == ' ';
  return code == 0x85 || code == 0xa0 || code == 0x1680 || between(code, 0x2000, 0x200a) || code == 0x2028 ||
         code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
}

bool is_mark(uint32_t code) {
  if (code == 0x1cf2 || code == 0x1cf3) return true;  // they were in Unicode 9, and are letters today
  if (code == 0x111c9 || is_later_than_9(code)) return false;
  const utf8proc_category_t kind = category(code);
  return kind == UTF8PROC_CATEGORY_MN || kind == UTF8PROC_CATEGORY_MC || kind == UTF8PROC_CATEGORY_ME;
}

bool is_word(uint32_t code) {
  switch (category(code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC: return true;
    default: return code == 0x200c || code == 0x200d || is_enclosed_letter(code);
  }
}

bool is_numeric(uint32_t code) {
  const utf8proc_category_t kind = category(code);
  return kind == UTF8PROC_CATEGORY_ND || kind == UTF8PROC_CATEGORY_NL || kind == UTF8PROC_CATEGORY_NO;
}

bool is_punctuation(uint32_t code) {
  if (code < 0x80)
    return between(code, 33, 47) || between(code, 58, 64) || between(code, 91, 96) || between(code, 123, 126);
  const utf8proc_category_t kind = category_of_8(code);
  return kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_PO;
}

bool is_control(uint32_t code) {
  const utf8proc_category_t kind = category_of_8(code);
  return kind == UTF8PROC_CATEGORY_CC || kind == UTF8PROC_CATEGORY_CF || kind == UTF8PROC_CATEGORY_CO ||
         kind == UTF8PROC_CATEGORY_CS;
}

bool is_nonspacing(uint32_t code) { return category_of_8(code) == UTF8PROC_CATEGORY_MN; }

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::string normal_form(std::string_view text, Form form) {
  if (is_ascii(text)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  size_t done = 0;
  // A code point without a class neither composes nor changes its place: what stands around it is normalized apart.
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    if (!is_later_than_9(next_code(text, at))) continue;
    append_normal(out, text.substr(done, begin - done), form);
    out += text.substr(begin, at - begin);
    done = at;
  }
  append_normal(out, text.substr(done), form);
  return out;
}

std::string lowercase(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const uint32_t code = next_code(text, at);
    if (code < 0x80) {
      out += static_cast<char>(code >= 'A' && code <= 'Z' ? code + 32 : code);
    } else if (code == 0x130) {
      out += "i\u0307";  // the one character whose lower case is two
    } else {
      append_code(out, static_cast<uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))));
    }
  }
  return out;
}

}  // namespace heddle::runtime::text
