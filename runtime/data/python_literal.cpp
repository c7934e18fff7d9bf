#include "runtime/data/python_literal.h"

#include <algorithm>
#include <charconv>

namespace heddle::runtime::data {
namespace {

using Kind = PythonValue::Kind;

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  std::optional<PythonValue> whole() {
    std::optional<PythonValue> v = value(0);
    skip_blanks();
    return rest_.empty() ? v : std::nullopt;
  }

 private:
  std::optional<PythonValue> value(int depth) {
    constexpr int kDeepest = 8;
    skip_blanks();
    if (rest_.empty() || depth > kDeepest) return std::nullopt;
    switch (rest_.front()) {
      case '{': return items(Kind::dictionary, '}', depth);
      case '(': return items(Kind::tuple, ')', depth);
      case '[': return items(Kind::list, ']', depth);
      case '\'':
      case '"': return text();
      default: return word();
    }
  }

  std::optional<PythonValue> items(Kind kind, char close, int depth) {
    PythonValue out{.kind = kind};
    rest_.remove_prefix(1);
    for (skip_blanks(); !take(close); skip_blanks()) {
      std::string key;
      if (kind == Kind::dictionary) {
        const std::optional<PythonValue> name = value(depth + 1);
        if (!name || name->kind != Kind::text || out.find(name->text) != nullptr || !take(':')) return std::nullopt;
        key = name->text;
      }
      std::optional<PythonValue> item = value(depth + 1);
      if (!item) return std::nullopt;
      item->key = key;
      out.items.push_back(std::move(*item));
      if (!take(',') && !next_is(close)) return std::nullopt;
    }
    return out;
  }

  // Without escapes: what NumPy names has none.
  std::optional<PythonValue> text() {
    const size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view inside = rest_.substr(1, end - 1);
    if (inside.find_first_of("\\\n") != std::string_view::npos) return std::nullopt;
    rest_.remove_prefix(end + 1);
    return PythonValue{.kind = Kind::text, .text = std::string(inside)};
  }

  std::optional<PythonValue> word() {
    for (const auto& [name, kind, number] :
         {Word{"True", Kind::flag, 1}, Word{"False", Kind::flag, 0}, Word{"None", Kind::none, 0}})
      if (rest_.starts_with(name)) {
        rest_.remove_prefix(name.size());
        return PythonValue{.kind = kind, .integer = number};
      }
    PythonValue out{.kind = Kind::integer};
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), out.integer);
    if (error != std::errc{}) return std::nullopt;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    if (!rest_.empty() && rest_.front() == 'L') rest_.remove_prefix(1);  // Python 2's long integers
    return out;
  }

  struct Word {
    std::string_view name;
    Kind kind;
    int64_t number;
  };
  void skip_blanks() {
    const size_t n = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(std::min(n, rest_.size()));
  }
  bool next_is(char c) {
    skip_blanks();
    return !rest_.empty() && rest_.front() == c;
  }
  bool take(char c) {
    if (!next_is(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view rest_;
};

}  // namespace

const PythonValue* PythonValue::find(std::string_view member) const {
  const auto it = std::ranges::find(items, member, &PythonValue::key);
  return it == items.end() ? nullptr : &*it;
}

std::optional<PythonValue> parse_python(std::string_view text) { return Parser(text).whole(); }

}  // namespace heddle::runtime::data
