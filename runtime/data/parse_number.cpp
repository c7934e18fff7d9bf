#include "runtime/data/parse_number.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

namespace heddle::runtime::data {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

enum class Outcome { number, no_number, too_large };

template <class T>
Outcome convert(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range && end == text.data() + text.size()) return Outcome::too_large;
  return error == std::errc{} && end == text.data() + text.size() ? Outcome::number : Outcome::no_number;
}

// A number that is too small for the type becomes 0 or the smallest number. from_chars does not tell whether a number
// is too small or too large; the result of strtod does.
template <class T>
Outcome convert_real(std::string_view text, T& value) {
  const Outcome outcome = convert(text, value);
  if (outcome != Outcome::too_large) return outcome;
  const double wide = std::strtod(std::string(text).c_str(), nullptr);
  if (std::abs(wide) >= 1) return outcome;
  value = static_cast<T>(wide);
  return Outcome::number;
}

// Digits, or digits and zeros behind a point.
template <class T>
Outcome convert_integer(std::string_view text, T& value) {
  const size_t point = text.find('.');
  if (point != std::string_view::npos && point > 0 &&
      std::ranges::all_of(text.substr(point + 1), [](char c) { return c == '0'; }))
    text = text.substr(0, point);
  return convert(text, value);
}

}  // namespace

std::string parse_number(std::string_view text, ElementType type, std::byte* to) {
  text = trimmed(text);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return visit(type, [&](auto value) -> std::string {
    Outcome outcome = Outcome::no_number;
    if constexpr (std::is_floating_point_v<decltype(value)>) {
      outcome = convert_real(text, value);
      if (outcome == Outcome::number && !std::isfinite(value)) return "is not finite";
    } else {
      outcome = convert_integer(text, value);
      // An unsigned type reads no sign, and none an exponent.
      using T = decltype(value);
      if (double wide = 0; outcome == Outcome::no_number && convert(text, wide) == Outcome::number) {
        if (wide != std::floor(wide)) return "is no integer";
        const bool fits = wide >= static_cast<double>(std::numeric_limits<T>::min()) &&
                          wide <= static_cast<double>(std::numeric_limits<T>::max());
        return fits ? "is no integer in digits" : "does not fit " + to_string(type);
      }
    }
    if (outcome == Outcome::no_number) return "is no number";
    if (outcome == Outcome::too_large) return "does not fit " + to_string(type);
    std::memcpy(to, &value, sizeof value);
    return {};
  });
}

bool is_missing(std::string_view text) {
  text = trimmed(text);
  for (const std::string_view word : {"", "NA", "N/A", "NaN", "nan", "null"})
    if (text == word) return true;
  return false;
}

}  // namespace heddle::runtime::data
