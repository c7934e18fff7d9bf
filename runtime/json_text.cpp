#include "runtime/json_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace heddle::runtime {

namespace {

// Bytes of the UTF-8 sequence that the text begins with; 0 where it begins with none (RFC 3629).
size_t sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (first < 0xc2 || length == 0) return 0;
  for (size_t i = 1; i < length; ++i)
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool outside = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  return overlong || outside ? 0 : length;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// What is no UTF-8 (a file name may hold any bytes) becomes U+FFFD, so that the whole stays valid.
std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const size_t length = sequence_length(text.substr(i));
    if (length == 0) {
      out += "\\ufffd";
    } else if (length > 1) {
      out += text.substr(i, length);
      i += length - 1;
    } else if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    else
      out += c;
  }
  return out + "\"";
}

std::string json_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "null"; }

std::string json_list(const std::vector<std::string>& items) { return fmt::format("[{}]", fmt::join(items, ", ")); }

std::string json_texts(const std::vector<std::string>& words) {
  std::vector<std::string> items;
  items.reserve(words.size());
  for (const std::string& word : words) items.push_back(json_quoted(word));
  return json_list(items);
}

JsonObject& JsonObject::raw(std::string_view key, std::string_view json) {
  if (!body_.empty()) body_ += ", ";
  body_ += json_quoted(key);
  body_ += ": ";
  body_ += json;
  return *this;
}

}  // namespace heddle::runtime
