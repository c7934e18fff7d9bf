#include "frontend/json/json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "frontend/limits.h"
#include "frontend/read/foreign_names.h"
#include "ir/read_text.h"

namespace heddle::frontend {

const Json* Json::find(std::string_view member) const {
  if (kind != Kind::object) return nullptr;
  for (const Json& item : items) {
    if (item.key == member) return &item;
  }
  return nullptr;
}

Json* Json::find(std::string_view member) { return const_cast<Json*>(static_cast<const Json*>(this)->find(member)); }

const SourceFile& Sources::add(std::string name, std::string text) {
  files_.push_back({std::move(name), std::move(text)});
  return files_.back();
}

namespace {
constexpr size_t kLongestPath = 4096;
}  // namespace

const SourceFile& Sources::open(const std::string& path) {
  const std::string name = path == "-" ? "<stdin>" : path;
  const auto read = std::ranges::find(files_, name, &SourceFile::name);
  if (path == "-" && read != files_.end()) return *read;  // it can be read once
  return add(name, read_text(path, quote(path, kLongestPath), kMaxFileBytes));
}

std::string quote(std::string_view text, size_t longest) {
  std::string out = "'";
  unsigned char before = 0;
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    // Those from U+0080 to U+009F are control characters, too: 0x9b begins an escape.
    const bool upper_control = std::exchange(before, byte) == 0xc2 && byte >= 0x80 && byte < 0xa0;
    if (upper_control) out.pop_back();
    if (byte < 0x20 || byte == 0x7f || upper_control) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      if (c == '\'' || c == '\\') out += '\\';
      out += c;
    }
  }
  // A cut never leaves half a UTF-8 sequence behind.
  if (text.size() > longest) {
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0x80) != 0) out.pop_back();
    out += "...";
  }
  return out + "'";
}

std::string suggest(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string hint = foreign_hint(word, candidates);
  return hint.empty() ? suggest_defined(word, candidates) : hint;
}

std::string suggest_word(std::string_view word, const std::vector<std::string>& words) {
  const std::string hint = foreign_hint(word, words);
  return hint.empty() ? did_you_mean(word, words) : hint;
}

std::string suggest_defined(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr size_t kFew = 24;
  std::string hint = did_you_mean(word, candidates);
  if (!hint.empty() || candidates.empty() || candidates.size() > kFew) return hint;
  return fmt::format("known: {}", fmt::join(candidates, ", "));
}

std::string describe(Json::Kind kind) {
  switch (kind) {
    case Json::Kind::null: return "null";
    case Json::Kind::flag: return "a boolean";
    case Json::Kind::integer: return "an integer";
    case Json::Kind::big: return "an integer above 2^63 - 1";
    case Json::Kind::real: return "a number";
    case Json::Kind::text: return "a string";
    case Json::Kind::list: return "a list";
    case Json::Kind::object: return "an object";
  }
  return "a value";
}

std::string describe(const Json& value) {
  switch (value.kind) {
    case Json::Kind::flag: return value.flag ? "true" : "false";
    case Json::Kind::integer: return fmt::format("{}", value.integer);
    case Json::Kind::real: {  // "3" would be an integer's text
      const std::string text = fmt::format("{}", value.real);
      return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
    }
    case Json::Kind::text: return "the string " + quote(value.text);
    default: return describe(value.kind);
  }
}

namespace {

[[noreturn]] void wrong_kind(const Json& value, std::string_view what, std::string_view expected) {
  throw UserError(value.where, fmt::format("{}: expected {}, found {}", what, expected, describe(value)));
}

}  // namespace

bool as_flag(const Json& value, std::string_view what) {
  if (value.kind != Json::Kind::flag) wrong_kind(value, what, "true or false");
  return value.flag;
}

const std::string& as_text(const Json& value, std::string_view what) {
  if (value.kind != Json::Kind::text) wrong_kind(value, what, "a string");
  return value.text;
}

int64_t as_integer(const Json& value, std::string_view what) {
  if (value.kind != Json::Kind::integer) wrong_kind(value, what, "an integer");
  return value.integer;
}

double as_real(const Json& value, std::string_view what) {
  if (value.kind == Json::Kind::real) return value.real;
  if (value.kind != Json::Kind::integer) wrong_kind(value, what, "a number");
  return exact_real(value.integer, value.where, what);
}

double exact_real(int64_t value, const Location& where, std::string_view what) {
  if (value > kMaxExactInteger || value < -kMaxExactInteger)
    throw UserError(where, fmt::format("{}: {} is beyond 2^53, where whole numbers stop being exact", what, value));
  return static_cast<double>(value);
}

void require_word(const Json& value, const std::vector<std::string>& words, std::string_view what) {
  const std::string& word = as_text(value, what);
  if (std::ranges::count(words, word) != 0) return;
  std::string known;
  for (size_t i = 0; i < words.size(); ++i)
    known += fmt::format("{}\"{}\"", i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", words[i]);
  throw UserError(value.where, fmt::format("{}: expected {}, found {}", what, known, quote(word)),
                  suggest_word(word, words));
}

const Json& as_list(const Json& value, std::string_view what) {
  if (value.kind != Json::Kind::list)
    throw UserError(value.where, fmt::format("{}: expected a list, found {}", what, describe(value)),
                    "one alone stands in brackets, too: [...]");
  return value;
}

const Json& as_object(const Json& value, std::string_view what) {
  if (value.kind != Json::Kind::object) wrong_kind(value, what, "an object");
  return value;
}

}  // namespace heddle::frontend
