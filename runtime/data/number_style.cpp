#include "runtime/data/number_style.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "ir/diagnostic.h"
#include "runtime/data/parse_number.h"
#include "runtime/data/table.h"

namespace heddle::runtime::data {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes the digits before the decimal, and adds them to `out`; false where their groups are none. The first group has
// one digit to three, each other one three.
bool take_digits(std::string_view& text, const std::string& thousands, std::string& out) {
  size_t group = 0;
  bool grouped = false;
  for (; !text.empty();) {
    if (is_digit(text[0])) {
      out += text[0], ++group;
      text.remove_prefix(1);
    } else if (!thousands.empty() && text.starts_with(thousands)) {
      if (grouped ? group != 3 : group == 0 || group > 3) return false;
      grouped = true, group = 0;
      text.remove_prefix(thousands.size());
    } else {
      break;
    }
  }
  return !grouped || group == 3;
}

// The number as parse_number reads it; none where it is not of the style.
std::optional<std::string> plain_text(std::string_view text, const NumberStyle& style) {
  std::string out;
  text = trimmed(text);
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    out += text[0];
    text.remove_prefix(1);
  }
  if (!take_digits(text, style.thousands, out)) return std::nullopt;
  if (text.starts_with(style.decimal)) {
    out += '.';
    text.remove_prefix(1);
  } else if (text.starts_with('.')) {
    return std::nullopt;
  }
  return out + std::string(text);
}

// 1, 0, or neither.
std::optional<int> flag_of(std::string_view text) {
  constexpr std::string_view kWords[] = {"false", "true", "no", "yes"};
  std::string small(trimmed(text));
  if (small.size() > 5) return std::nullopt;
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto capitals = static_cast<size_t>(std::ranges::count_if(small, is_capital));
  if (capitals != 0 && capitals != small.size() && !(capitals == 1 && is_capital(small[0]))) return std::nullopt;
  for (char& c : small)
    if (is_capital(c)) c = static_cast<char>(c - 'A' + 'a');
  for (size_t i = 0; i < std::size(kWords); ++i)
    if (small == kWords[i]) return static_cast<int>(i % 2);
  return std::nullopt;
}

size_t characters(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

NumberStyle number_style(const std::vector<ReaderSetting>& settings) {
  NumberStyle style;
  if (const ReaderSetting* decimal = find_setting(settings, "decimal"))
    style.decimal = std::get<std::vector<std::string>>(decimal->value).at(0).at(0);
  const ReaderSetting* thousands = find_setting(settings, "thousands");
  if (thousands == nullptr) return style;
  style.thousands = std::get<std::vector<std::string>>(thousands->value).at(0);
  const bool one = characters(style.thousands) == 1;
  const char first = one ? style.thousands[0] : '0';
  const bool letter = is_digit(first) || (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
  if (!one || letter || std::string_view("+-\"\r\n").find(first) != std::string_view::npos || first == '\0')
    throw UserError(thousands->where,
                    "csv: 'thousands' is one character between groups of three digits, and none of a number's own",
                    "such as \",\", \".\", \" \" or \"'\"");
  if (style.thousands[0] == style.decimal)
    throw UserError(thousands->where, fmt::format("csv: 'thousands' and 'decimal' are both '{}'", style.decimal),
                    style.decimal == '.' ? "add \"decimal\": \",\"" : "\"thousands\": \".\" goes with a decimal comma");
  return style;
}

std::string parse_cell(std::string_view text, const NumberStyle& style, ElementType type, std::byte* to) {
  std::string fault;
  if (style.plain()) {
    fault = parse_number(text, type, to);
  } else {
    const std::optional<std::string> plain = plain_text(text, style);
    fault = plain ? parse_number(*plain, type, to) : "is no number";
  }
  if (fault.empty()) return fault;
  const std::optional<int> flag = flag_of(text);
  return flag ? parse_number(*flag == 1 ? "1" : "0", type, to) : fault;
}

std::string other_style(std::string_view text, const NumberStyle& style) {
  const auto read = [&](const NumberStyle& as) -> std::optional<double> {
    const std::optional<std::string> plain = plain_text(text, as);
    double number = 0;
    if (!plain || !parse_number(*plain, ElementType::f64, reinterpret_cast<std::byte*>(&number)).empty())
      return std::nullopt;
    return number;
  };
  const NumberStyle others[] = {{'.', ""},  {',', ""},  {'.', ","},      {',', "."},     {'.', " "},
                                {',', " "}, {'.', "'"}, {'.', "\u00A0"}, {',', "\u202F"}};
  std::vector<std::optional<double>> known = {read(style)};
  std::string help;
  for (const NumberStyle& other : others) {
    const std::optional<double> number = read(other);
    if (!number || known.size() == 3 || std::ranges::find(known, number) != known.end()) continue;
    std::string words;
    if (other.decimal != style.decimal) words = fmt::format("\"decimal\": \"{}\"", other.decimal);
    if (other.thousands != style.thousands)
      words += fmt::format("{}\"thousands\": \"{}\"", words.empty() ? "" : ", ", other.thousands);
    help += fmt::format("{}{} reads it as {}", help.empty() ? "" : "; ", words, *number);
    known.push_back(number);
  }
  return help;
}

}  // namespace heddle::runtime::data
