#include "ir/keys/key_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace heddle::ir {
namespace {

// "a string or a list of strings"
std::string or_several(const std::string& one) {
  if (one.find(" or ") != std::string::npos) return one + ", or a list of them";
  return fmt::format("{} or a list of {}s", one, one.substr(one.find(' ') + 1));
}

std::string in_number(const Key& key, const std::string& one) {
  switch (key.count) {
    case Count::one: return one;
    case Count::several: return or_several(one);
    case Count::list: return "a list";
    case Count::by_name:
    case Count::lists_by_name: return "an object";
  }
  return one;
}

std::string bounds(const KeyRange& r) {
  return fmt::format("{}{}, {}{}", r.above ? '(' : '[', r.low, r.high, r.below ? ')' : ']');
}

// "must be at least 1"
std::string rule(const Key& key) {
  const KeyRange& r = key.range;
  const bool two = std::isfinite(r.low) && std::isfinite(r.high);
  if (two && key.type == KeyType::real) return "must lie in " + bounds(r);
  if (two) return fmt::format("must be between {:.0f} and {:.0f}", r.low, r.high);
  if (std::isfinite(r.high)) return fmt::format("must be at most {}", r.high);
  if (r.above) return fmt::format("must be {}above {}", r.f32 ? "an f32 " : "", r.low);
  return r.low == 0 ? "must not be negative" : fmt::format("must be at least {}", r.low);
}

std::string fallback_text(const Attr& fallback) {
  if (const auto* real = std::get_if<double>(&fallback)) return fmt::format("{}", *real);
  const auto* list = std::get_if<std::vector<int64_t>>(&fallback);
  if (list != nullptr && list->size() == 1) return fmt::format("{}", list->front());
  return to_string(fallback);
}

}  // namespace

bool is_switch(const Key& key) {
  return key.type == KeyType::object && key.fallback && std::holds_alternative<bool>(*key.fallback);
}

std::string expected_item(const Key& key) {
  switch (key.type) {
    case KeyType::flag: return "true or false";
    case KeyType::integer: return "an integer";
    case KeyType::real: return "a number";
    case KeyType::text:
    case KeyType::dtype:
    case KeyType::path: return "a string";
    case KeyType::word: return "a name or an index";
    case KeyType::part:
      return key.of == "schedule" ? "a number, a name or an object with an \"op\""
                                  : "a name or an object with an \"op\"";
    case KeyType::object: return is_switch(key) ? "true, false or an object" : "an object";
    case KeyType::padding: return "\"valid\", \"same\", an integer or a list of integers";
    case KeyType::sides: return "one number or [height, width]";
    case KeyType::borders: return "one number, [height, width] or [top, bottom, left, right]";
    case KeyType::classes: return "a list of names or \"sorted\"";
    case KeyType::size: return "a size or a name";
    case KeyType::sizes: return "an integer or an object";
    case KeyType::reads: return "a name or a number, or a list or an object of them";
    case KeyType::planned:
    case KeyType::any: return "a value";
  }
  return {};
}

std::string expected_text(const Key& key) { return in_number(key, expected_item(key)); }

std::string type_text(const Key& key) {
  const bool one = key.count == Count::one;
  const std::string words = fmt::format("{}", fmt::join(key.words, ", "));
  if (!key.words.empty()) return key.type == KeyType::real ? in_number(key, "a number or one of " + words) : words;
  switch (key.type) {
    case KeyType::integer: return one ? "an integer or an expression" : expected_text(key);
    case KeyType::real: return one ? "a number or an expression" : expected_text(key);
    case KeyType::text: return in_number(key, "a text");
    case KeyType::dtype: return "a type: f32, i32 ...";
    case KeyType::path: return in_number(key, "a path");
    case KeyType::part:
      return in_number(key, (key.of == "schedule" ? "a number, " : "") + std::string("a name or {\"op\": name, ...}"));
    case KeyType::padding: return "valid, same, an integer, [h, w] or [top, bottom, left, right]";
    case KeyType::sides: return "a number of pixels or [height, width]";
    case KeyType::borders: return "a number of pixels, [height, width] or [top, bottom, left, right]";
    case KeyType::classes: return "an object: for an input a list of names, or \"sorted\"";
    default: return expected_text(key);
  }
}

std::string default_text(const Key& key) {
  if (key.fallback) {
    const auto* word = std::get_if<std::string>(&*key.fallback);
    return word != nullptr && word->empty() ? "" : fallback_text(*key.fallback);
  }
  const size_t colon = key.doc.rfind(": ");
  return key.required || key.type == KeyType::object || colon == std::string::npos ? "" : key.doc.substr(colon + 2);
}

std::string doc_text(const Key& key) {
  return key.fallback || default_text(key).empty() ? key.doc : key.doc.substr(0, key.doc.rfind(": "));
}

std::string range_fault(const Key& key, long double value, const std::string& shown) {
  if (key.range.holds(value)) return {};
  KeyRange exact = key.range;
  exact.f32 = false;
  // An f32 above 0 is said in one.
  if (exact.holds(value) && !exact.above) return "is not an f32: " + shown;
  return fmt::format("{}, is {}", rule(key), shown);
}

}  // namespace heddle::ir
