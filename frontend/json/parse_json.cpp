// The parser proper: nlohmann's SAX parser, fed by an iterator that knows how far it has read. Kept apart from the tree
// because the header costs seconds of compile time.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "frontend/json/json.h"
#include "frontend/limits.h"

namespace heddle::frontend {
namespace {

// Tells the handler where the lexer stands: the parser copies its iterators, `cursor` is shared by all copies.
struct CountingIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at = nullptr;
  const char** cursor = nullptr;

  const char& operator*() const { return *at; }
  CountingIterator& operator++() {
    ++at;
    if (cursor != nullptr) *cursor = at;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator& other) const { return at == other.at; }
  bool operator!=(const CountingIterator& other) const { return at != other.at; }
};

bool in_number(char c) { return (c >= '0' && c <= '9') || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'; }

// "syntax error while parsing object - unexpected ']'; last read: ...; expected '}'" without the parts that repeat user
// bytes.
std::string reason(std::string text) {
  const size_t start = text.find("while parsing ");
  if (start == std::string::npos)
    return text.find("number overflow") != std::string::npos ? "number too large" : "syntax error";
  text = text.substr(start + 14);
  const size_t quote = text.find("; last read: '");
  if (quote != std::string::npos) {
    const size_t expected = text.rfind("; expected ");
    text = text.substr(0, quote) + (expected == std::string::npos || expected < quote ? "" : text.substr(expected));
  }
  const size_t dash = text.find(" - ");
  if (dash != std::string::npos) text = "in " + text.substr(0, dash) + ": " + text.substr(dash + 3);
  return "syntax error " + text;
}

class Handler : public nlohmann::json_sax<nlohmann::json> {
 public:
  Handler(const SourceFile& file, const char*& cursor) : file_(file), cursor_(cursor) {}

  Json root;
  std::vector<Diagnostic> errors;

  bool null() override { return literal(Json::Kind::null, 4, false); }
  bool boolean(bool value) override { return literal(Json::Kind::flag, value ? 4 : 5, value); }
  bool number_integer(number_integer_t value) override {
    Json json = number(Json::Kind::integer);
    json.integer = value;
    json.real = static_cast<double>(value);
    return put(std::move(json));
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<uint64_t>(INT64_MAX)) return number_integer(static_cast<int64_t>(value));
    return put(number(Json::Kind::big));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    Json json = number(Json::Kind::real);
    if (text.find_first_of(".eE") == std::string::npos) return fail(json.where, "integer does not fit in 64 bits");
    json.real = value;
    return put(std::move(json));
  }
  bool string(string_t& value) override {
    Json json;
    json.kind = Json::Kind::text;
    json.text = std::move(value);
    json.where = here(string_begin(), offset());
    return put(std::move(json));
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open(Json::Kind::object); }
  bool start_array(size_t) override { return open(Json::Kind::list); }
  bool end_array() override { return close(); }
  bool end_object() override { return unique_keys(*open_.back()) && close(); }
  bool key(string_t& value) override {
    key_ = std::move(value);
    key_where_ = here(string_begin(), offset());
    return true;
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    const auto size = static_cast<uint32_t>(file_.text.size());
    const uint32_t begin = std::min(size, static_cast<uint32_t>(position == 0 ? 0 : position - 1));
    return fail(here(begin, std::min(size, begin + 1)), reason(error.what()),
                trailing_comma(begin) ? "remove the comma before it" : foreign_literal(begin));
  }

 private:
  uint32_t offset() const { return static_cast<uint32_t>(cursor_ - file_.text.data()); }
  Location here(uint32_t begin, uint32_t end) const { return {&file_, begin, end}; }

  bool fail(const Location& where, std::string message, std::string help = {}) {
    errors.push_back({Severity::error, where, std::move(message), {}, std::move(help)});
    return false;
  }

  bool trailing_comma(uint32_t at) const {
    const std::string& text = file_.text;
    if (at >= text.size() || (text[at] != '}' && text[at] != ']')) return false;
    while (at > 0 && std::string_view(" \t\r\n").find(text[at - 1]) != std::string_view::npos) --at;
    return at > 0 && text[at - 1] == ',';
  }

  // What Python writes where JSON has another word, or none. The lexer may have read a part of the word.
  std::string foreign_literal(uint32_t at) const {
    const std::string& text = file_.text;
    const auto letter = [&](uint32_t i) {
      return i < text.size() && std::isalpha(static_cast<unsigned char>(text[i]));
    };
    uint32_t end = at;
    while (at > 0 && letter(at - 1)) --at;
    while (letter(end)) ++end;
    const std::string_view word = std::string_view(text).substr(at, end - at);
    if (word == "NaN" || word == "nan" || word == "Infinity" || word == "inf")
      return "JSON has no nan and no infinity: give a number";
    if (word == "True" || word == "False" || word == "None") return "JSON writes true, false and null";
    return {};
  }

  // A string ends at the cursor; its opening quote is the last one before with an even number of backslashes in front.
  uint32_t string_begin() const {
    const std::string& text = file_.text;
    for (uint32_t i = offset() - 1; i > 0;) {
      if (text[--i] != '"') continue;
      uint32_t slash = i;
      while (slash > 0 && text[slash - 1] == '\\') --slash;
      if ((i - slash) % 2 == 0) return i;
    }
    return 0;
  }

  // The lexer has read one character beyond a number, except at the end of the file.
  Json number(Json::Kind kind) const {
    const std::string& text = file_.text;
    uint32_t end = offset();
    while (end > 0 && (end > text.size() || !in_number(text[end - 1]))) --end;
    uint32_t begin = end;
    while (begin > 0 && in_number(text[begin - 1])) --begin;
    Json json;
    json.kind = kind;
    json.where = here(begin, end);
    return json;
  }

  bool literal(Json::Kind kind, uint32_t length, bool value) {
    Json json;
    json.kind = kind;
    json.flag = value;
    json.where = here(offset() - length, offset());
    return put(std::move(json));
  }

  bool put(Json&& value) {
    if (++count_ > kMaxValues) return fail(value.where, fmt::format("more than {} values in one file", kMaxValues));
    if (open_.empty()) {
      root = std::move(value);
      return true;
    }
    Json& parent = *open_.back();
    if (parent.kind == Json::Kind::object) {
      value.key = std::move(key_);
      value.key_where = key_where_;
    }
    parent.items.push_back(std::move(value));
    return true;
  }

  bool open(Json::Kind kind) {
    Json json;
    json.kind = kind;
    json.where = here(offset() - 1, offset());
    if (open_.size() >= kMaxNesting) return fail(json.where, fmt::format("nesting deeper than {}", kMaxNesting));
    Json* parent = open_.empty() ? nullptr : open_.back();
    if (!put(std::move(json))) return false;
    // Stays valid while it is open: only the innermost open list grows.
    open_.push_back(parent == nullptr ? &root : &parent->items.back());
    return true;
  }

  bool close() {
    open_.back()->where.end = offset();
    open_.pop_back();
    return true;
  }

  bool unique_keys(const Json& object) {
    std::vector<const Json*> members;
    for (const Json& item : object.items) members.push_back(&item);
    std::stable_sort(members.begin(), members.end(), [](const Json* a, const Json* b) { return a->key < b->key; });
    const auto same = std::adjacent_find(members.begin(), members.end(),
                                         [](const Json* a, const Json* b) { return a->key == b->key; });
    if (same == members.end()) return true;
    const Json* first = *same;
    const Json* second = *std::next(same);
    fail(second->key_where, fmt::format("the key {} is given twice", quote(second->key)));
    errors.back().notes.push_back({Severity::note, first->key_where, "first given here", {}, {}});
    return false;
  }

  const SourceFile& file_;
  const char*& cursor_;
  std::vector<Json*> open_;
  std::string key_;
  Location key_where_;
  size_t count_ = 0;
};

// Length of the valid UTF-8 sequence at `at`, 0 if there is none: no overlong forms, no surrogates, nothing above
// U+10FFFF.
size_t utf8_length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U; };
  const auto continues = [&](size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = first == 0xED ? 0x9F : 0xBF;
    return byte(1) >= low && byte(1) <= high && continues(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
    return byte(1) >= low && byte(1) <= high && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

// NUL is refused everywhere: the parser would take it for the end of the text.
void check_utf8(const SourceFile& file) {
  for (size_t at = 0; at < file.text.size();) {
    const size_t length = utf8_length(file.text, at);
    const auto begin = static_cast<uint32_t>(at);
    if (length == 0) throw UserError(Location{&file, begin, begin + 1}, "not valid UTF-8");
    if (file.text[at] == '\0') throw UserError(Location{&file, begin, begin + 1}, "a NUL byte does not belong in JSON");
    at += length;
  }
}

}  // namespace

Json parse_json(const SourceFile& file) {
  if (file.text.size() > kMaxFileBytes) {
    throw UserError(ExitCode::limit, fmt::format("{} is larger than {} MiB", quote(file.name), kMaxFileBytes >> 20));
  }
  check_utf8(file);
  const char* cursor = file.text.data();
  const char* end = cursor + file.text.size();
  Handler handler(file, cursor);
  const bool ok =
      nlohmann::json::sax_parse(CountingIterator{cursor, &cursor}, CountingIterator{end, nullptr}, &handler,
                                nlohmann::json::input_format_t::json, /*strict=*/true, /*ignore_comments=*/true);
  if (!ok) throw UserError(std::move(handler.errors));
  return std::move(handler.root);
}

}  // namespace heddle::frontend
