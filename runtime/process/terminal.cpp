#include "runtime/process/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace heddle::runtime {
namespace {

constexpr int kUsualColumns = 80;
constexpr int kMostColumns = 10'000;

struct Character {
  uint32_t code = 0;  // 0xfffd where the bytes are no UTF-8
  size_t bytes = 1;
};
constexpr uint32_t kNone = 0xfffd;

// The first character of a text that is not empty (RFC 3629).
Character first_of(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const size_t length = first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (first < 0xc2 || length == 0) return {kNone, 1};
  uint32_t code = first & (0xffU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {kNone, 1};
    code = code << 6 | (byte(i) & 0x3f);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  if (overlong || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) return {kNone, 1};
  return {code, length};
}

bool is_shown(uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool turns = (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
                     (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
  return !control && !turns && code != kNone;
}

// From here on are the scripts that terminals show in two columns, beside many that they show in one.
constexpr uint32_t kFirstWide = 0x1100;
size_t columns_of(const Character& c) { return c.code >= kFirstWide ? 2 : 1; }

}  // namespace

int terminal_columns(std::FILE* out) {
  if (const char* given = std::getenv("COLUMNS")) {
    int columns = 0;
    const char* end = given + std::strlen(given);
    const auto [stop, error] = std::from_chars(given, end, columns);
    if (error == std::errc() && stop == end && columns > 0) return std::min(columns, kMostColumns);
    if (error == std::errc::result_out_of_range && given[0] != '-') return kMostColumns;
  }
  struct winsize size {};
  if (::ioctl(::fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kUsualColumns;
}

bool renews_lines(std::FILE* out) {
  const char* terminal = std::getenv("TERM");
  const bool named = terminal != nullptr && terminal[0] != '\0' && std::strcmp(terminal, "dumb") != 0;
  return named && ::isatty(::fileno(out)) == 1;
}

bool takes_colours(std::FILE* out) {
  const char* none = std::getenv("NO_COLOR");
  return renews_lines(out) && (none == nullptr || none[0] == '\0');
}

std::atomic<bool>& line_is_open() {
  static std::atomic<bool> open{false};
  return open;
}

std::string visible(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Character c = first_of(text);
    out += is_shown(c.code) ? text.substr(0, c.bytes) : "?";
    text.remove_prefix(c.bytes);
  }
  return out;
}

size_t columns_of(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    const Character c = first_of(text);
    columns += columns_of(c);
    text.remove_prefix(c.bytes);
  }
  return columns;
}

std::string cut(std::string_view text, size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  const std::string_view dots = columns > 6 ? "..." : "";
  size_t left = columns - dots.size();
  std::string out;
  while (!text.empty()) {
    const Character c = first_of(text);
    if (columns_of(c) > left) break;
    left -= columns_of(c);
    out += text.substr(0, c.bytes);
    text.remove_prefix(c.bytes);
  }
  return out + std::string(dots);
}

}  // namespace heddle::runtime
