#include "runtime/text/json_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "runtime/data/printable.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

constexpr uint32_t kMaxNesting = 64;
constexpr size_t kMaxValues = 4'000'000;  // 112 MB of nodes
constexpr size_t kMaxBytes = size_t{64} << 20;

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Four hexadecimal digits; nothing where they are none.
std::optional<uint32_t> hexadecimal(std::string_view digits) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (digits.size() != 4 || error != std::errc() || end != digits.data() + 4) return std::nullopt;
  return value;
}

// A string's content, between its quotes. The parser has checked it.
std::string unescaped(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\\') {
      text += source[i];
      continue;
    }
    const char c = source[++i];
    static constexpr std::string_view kFrom = "bfnrt", kTo = "\b\f\n\r\t";
    if (const size_t at = kFrom.find(c); at != std::string_view::npos) {
      text += kTo[at];
    } else if (c == 'u') {
      uint32_t code = *hexadecimal(source.substr(i + 1, 4));
      i += 4;
      if (code >= 0xd800 && code < 0xdc00) {
        code = 0x10000 + ((code - 0xd800) << 10) + (*hexadecimal(source.substr(i + 3, 4)) - 0xdc00);
        i += 6;
      }
      append_code(text, code);
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

class JsonParser {
 public:
  JsonParser(const SourceFile& file, std::vector<JsonTree::Node>& nodes)
      : file_(file), text_(file.text), nodes_(nodes) {}

  void parse() {
    skip_blanks();
    value(0, 0, 0);
    skip_blanks();
    if (at_ < text_.size()) fail(at_, "something follows the JSON value");
  }

 private:
  using Kind = JsonValue::Kind;

  [[noreturn]] void fail(size_t at, std::string message, std::string help = {}) const {
    const size_t begin = std::min(at, text_.size());
    const Location where{&file_, static_cast<uint32_t>(begin),
                         static_cast<uint32_t>(std::min(begin + 1, text_.size()))};
    throw UserError(where, std::move(message), std::move(help));
  }
  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c, const char* where) {
    skip_blanks();
    if (!take(c))
      fail(at_, fmt::format("expected '{}' in {}{}", c, where, at_ < text_.size() ? "" : ", found the end"));
  }

  uint32_t value(uint32_t key_begin, uint32_t key_end, uint32_t depth) {
    if (depth > kMaxNesting) fail(at_, fmt::format("nesting deeper than {}", kMaxNesting));
    if (nodes_.size() >= kMaxValues) fail(at_, fmt::format("more than {} values in one file", kMaxValues));
    const auto index = static_cast<uint32_t>(nodes_.size());
    const auto begin = static_cast<uint32_t>(at_);
    nodes_.push_back({begin, begin, key_begin, key_end, 0, 0, Kind::null});
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c == '{' || c == '[') {
      items(index, c == '{' ? Kind::object : Kind::list, depth);
    } else if (c == '"') {
      string();
      nodes_[index].kind = Kind::text;
    } else if (c == '-' || is_digit(c)) {
      number();
      nodes_[index].kind = Kind::number;
    } else if (!word("null")) {
      if (!word("true") && !word("false"))
        fail(at_, "expected a JSON value" + std::string(c == '\0' ? ", found the end" : ""));
      nodes_[index].kind = Kind::flag;
    }
    nodes_[index].end = static_cast<uint32_t>(at_);
    return index;
  }

  void items(uint32_t index, Kind kind, uint32_t depth) {
    const bool object = kind == Kind::object;
    const char close = object ? '}' : ']';
    nodes_[index].kind = kind;
    ++at_;
    skip_blanks();
    if (take(close)) return;
    for (uint32_t last = 0;;) {
      skip_blanks();
      uint32_t key_begin = 0, key_end = 0;
      if (object) {
        key_begin = static_cast<uint32_t>(at_);
        if (at_ >= text_.size() || text_[at_] != '"') fail(at_, "expected a key in quotes");
        string();
        key_end = static_cast<uint32_t>(at_);
        expect(':', "an object");
        skip_blanks();
      }
      const uint32_t child = value(key_begin, key_end, depth + 1);
      if (last != 0) nodes_[last].next = child;
      last = child;
      ++nodes_[index].size;
      skip_blanks();
      if (take(close)) return;
      expect(',', object ? "an object" : "a list");
    }
  }

  bool word(std::string_view name) {
    if (text_.substr(at_, name.size()) != name) return false;
    at_ += name.size();
    return true;
  }

  void digits() {
    if (at_ >= text_.size() || !is_digit(text_[at_])) fail(at_, "expected a digit");
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  }
  void number() {
    take('-');
    const bool zero = at_ < text_.size() && text_[at_] == '0';
    const size_t first = at_;
    digits();
    if (zero && at_ > first + 1) fail(first, "a number does not begin with 0");
    if (take('.')) digits();
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      digits();
    }
  }

  void string() {
    const size_t begin = at_++;
    for (;; ++at_) {
      if (at_ >= text_.size()) fail(begin, "the string does not end");
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') break;
      if (c < 0x20) fail(at_, "a control character in a string", "JSON writes it as \\n, \\t or \\u0000");
      if (c == '\\') escape();
    }
    ++at_;
  }
  void escape() {
    const size_t begin = at_++;
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c != '\0' && std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos) return;
    const std::optional<uint32_t> code = c == 'u' ? hexadecimal(text_.substr(at_ + 1, 4)) : std::nullopt;
    if (!code) fail(begin, "JSON has no such escape");
    at_ += 4;
    if (*code < 0xd800 || *code > 0xdfff) return;
    const std::optional<uint32_t> low =
        text_.substr(at_ + 1, 2) == "\\u" ? hexadecimal(text_.substr(at_ + 3, 4)) : std::nullopt;
    if (*code >= 0xdc00 || !low || *low < 0xdc00 || *low > 0xdfff) fail(begin, "half of a pair of surrogates");
    at_ += 6;
  }

  const SourceFile& file_;
  std::string_view text_;
  std::vector<JsonTree::Node>& nodes_;
  size_t at_ = 0;
};

JsonTree::JsonTree(const SourceFile& file) : file_(&file) {
  if (file.text.size() > kMaxBytes)
    throw UserError(ExitCode::limit,
                    fmt::format("'{}' is larger than {} MiB", data::printable(file.name), kMaxBytes >> 20));
  if (file.text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw UserError(Location{&file, 0, 0}, "the file is empty",
                    "give a tokenizer.json, or write one: heddle tokenize --train");
  require_utf8(file);
  JsonParser(file, nodes_).parse();
}

std::string_view describe(JsonValue::Kind kind) {
  switch (kind) {
    case JsonValue::Kind::null: return "null";
    case JsonValue::Kind::flag: return "true or false";
    case JsonValue::Kind::number: return "a number";
    case JsonValue::Kind::text: return "a string";
    case JsonValue::Kind::list: return "a list";
    case JsonValue::Kind::object: return "an object";
  }
  return "";
}

JsonValue::Kind JsonValue::kind() const { return tree_->nodes_[index_].kind; }
Location JsonValue::where() const {
  const JsonTree::Node& node = tree_->nodes_[index_];
  return {tree_->file_, node.begin, node.kind == Kind::list || node.kind == Kind::object ? node.begin + 1 : node.end};
}
Location JsonValue::key_where() const {
  const JsonTree::Node& node = tree_->nodes_[index_];
  return {tree_->file_, node.key_begin, node.key_end};
}
std::string JsonValue::key() const {
  const JsonTree::Node& node = tree_->nodes_[index_];
  const std::string_view text = tree_->file_->text;
  return node.key_end == 0 ? "" : unescaped(text.substr(node.key_begin + 1, node.key_end - node.key_begin - 2));
}
std::string_view JsonValue::source() const {
  const JsonTree::Node& node = tree_->nodes_[index_];
  return std::string_view(tree_->file_->text).substr(node.begin, node.end - node.begin);
}

uint32_t JsonValue::size() const { return tree_->nodes_[index_].size; }
std::optional<JsonValue> JsonValue::first() const {
  return size() == 0 ? std::nullopt : std::optional(JsonValue(tree_, index_ + 1));
}
std::optional<JsonValue> JsonValue::next() const {
  const uint32_t next = tree_->nodes_[index_].next;
  return next == 0 ? std::nullopt : std::optional(JsonValue(tree_, next));
}
std::optional<JsonValue> JsonValue::find(std::string_view member) const {
  for (auto item = first(); item; item = item->next())
    if (item->key() == member) return item;
  return std::nullopt;
}

void JsonValue::fail(std::string message, std::string help) const {
  throw UserError(where(), std::move(message), std::move(help));
}
void JsonValue::expect(Kind kind, std::string_view what) const {
  if (this->kind() != kind) fail(fmt::format("{} must be {}, is {}", what, describe(kind), describe(this->kind())));
}
std::string JsonValue::text(std::string_view what) const {
  expect(Kind::text, what);
  const std::string_view quoted = source();
  return unescaped(quoted.substr(1, quoted.size() - 2));
}
bool JsonValue::flag(std::string_view what) const {
  expect(Kind::flag, what);
  return source() == "true";
}
double JsonValue::real(std::string_view what) const {
  expect(Kind::number, what);
  const std::string_view digits = source();
  double value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (result.ec != std::errc() || !std::isfinite(value)) fail(fmt::format("{} does not fit in 64 bits", what));
  return value;
}
uint32_t JsonValue::id(std::string_view what) const {
  expect(Kind::number, what);
  const std::string_view digits = source();
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value >= kMaxIds)
    fail(fmt::format("{} must be an integer from 0 to {}, is {}", what, kMaxIds - 1, data::printable(digits)));
  return value;
}
JsonValue JsonValue::list(std::string_view what) const {
  expect(Kind::list, what);
  return *this;
}
JsonValue JsonValue::object(std::string_view what) const {
  expect(Kind::object, what);
  return *this;
}

void require_members(const JsonValue& object, std::initializer_list<std::string_view> known, std::string_view what) {
  std::vector<std::string> seen;
  for (auto item = object.first(); item; item = item->next()) {
    std::string key = item->key();
    if (std::ranges::find(known, key) == known.end())
      throw UserError(item->key_where(), fmt::format("{} has no '{}' that is supported", what, data::printable(key)),
                      fmt::format("supported are {}", fmt::join(known, ", ")));
    if (std::ranges::find(seen, key) != seen.end())
      throw UserError(item->key_where(), fmt::format("'{}' is given twice", key), "remove one of them");
    seen.push_back(std::move(key));
  }
}

}  // namespace heddle::runtime::text
