#include "runtime/data/row_condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "ir/check.h"
#include "runtime/data/element.h"
#include "runtime/data/parse_number.h"
#include "runtime/data/printable.h"

namespace heddle::runtime::data {
namespace {

bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

template <class T>
bool compare(const std::string& op, const T& a, const T& b) {
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  return op == ">" ? a > b : a >= b;
}

double apply(char op, double a, double b) {
  switch (op) {
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    case '/': return a / b;
    default: return std::fmod(a, b);
  }
}

// As an expression names it.
std::string named(const std::string& column) {
  const bool plain = !column.empty() && !is_digit(column[0]) &&
                     std::ranges::all_of(column, [](char c) { return starts_name(c) || is_digit(c); });
  return plain ? column : "`" + column + "`";
}

}  // namespace

// Recursive descent, as of frontend/expression.cpp. A value is the number of its node.
class ConditionParser {
  using Kind = RowCondition::Kind;
  using Node = RowCondition::Node;

 public:
  ConditionParser(std::string_view text, RowCondition& made, const RowCondition::Find& find)
      : text_(text), made_(made), find_(find) {}

  void run() {
    if (text_.size() > kMaxConditionBytes) fail(0, fmt::format("expression longer than {} bytes", kMaxConditionBytes));
    const size_t all = condition();
    if (next() != '\0' || at_ < text_.size()) refuse_rest();
    require_truth(all);
    if (std::ranges::none_of(made_.nodes_, [](const Node& n) { return n.kind == Kind::column; }))
      fail(0, "it names no column, so that it leaves all rows or none", "such as \"size > 3\", of a column 'size'");
    HEDDLE_CHECK(all + 1 == made_.nodes_.size(), "the whole is made last");
  }

 private:
  // Exact for strings without escapes.
  Location place(size_t at, size_t size = 1) const {
    Location where = made_.where_;
    const auto begin = static_cast<uint32_t>(where.begin + 1 + at);
    if (!where.valid() || where.end - where.begin != text_.size() + 2 || begin >= where.end) return where;
    return {where.file, begin, begin + static_cast<uint32_t>(size)};
  }
  [[noreturn]] void fail(size_t at, const std::string& message, const std::string& help = {}) const {
    throw UserError(place(at), fmt::format("in the expression '{}': {}", printable(text_), message), help);
  }

  char next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (next() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  std::string_view word() {
    next();
    size_t end = at_;
    while (end < text_.size() && (starts_name(text_[end]) || (end > at_ && is_digit(text_[end])))) ++end;
    return text_.substr(at_, end - at_);
  }
  bool take_word(std::string_view wanted) {
    if (word() != wanted) return false;
    at_ += wanted.size();
    return true;
  }
  std::string shown(size_t at) const {
    size_t end = at + 1;  // all bytes of a character: UTF-8
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xc0) == 0x80) ++end;
    return "'" + printable(std::string(text_.substr(at, end - at))) + "'";
  }

  [[noreturn]] void refuse_rest() {
    const char c = next();
    const char second = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (c == '=') fail(at_, "there is no operator '='", "write ==");
    if (c == '&' || c == '|')
      fail(at_, fmt::format("there is no operator '{}'", c), c == '&' ? "write and" : "write or");
    if (c == '!' && second != '=') fail(at_, "there is no operator '!'", "write not");
    if (comparison_here()) fail(at_, "a comparison of a comparison", "0 < x and x < 5 says that x lies between");
    fail(at_, fmt::format("expected an operator, found {}", shown(at_)));
  }

  size_t add(Node node) {
    made_.nodes_.push_back(std::move(node));
    return made_.nodes_.size() - 1;
  }
  size_t join(Kind kind, size_t at, size_t left, size_t right, std::string_view op = {}) {
    return add({.kind = kind, .at = at, .left = left, .right = right, .word = std::string(op)});
  }
  Node& node(size_t i) { return made_.nodes_[i]; }

  bool is_truth(size_t i) {
    switch (node(i).kind) {
      case Kind::number:
      case Kind::text:
      case Kind::column:
      case Kind::arithmetic:
      case Kind::root: return false;
      case Kind::missing:
      case Kind::comparison:
      case Kind::among:
      case Kind::negation:
      case Kind::both:
      case Kind::either: return true;
    }
    return false;
  }
  void require_truth(size_t i) {
    if (!is_truth(i))
      fail(node(i).at, fmt::format("expected a comparison, found a {}", node(i).kind == Kind::text ? "text" : "number"),
           node(i).kind == Kind::column ? "such as != 0 behind it" : "");
  }
  void require_number(size_t i) {
    if (node(i).kind == Kind::text) fail(node(i).at, "a text where a number is expected");
    if (is_truth(i)) fail(node(i).at, "a comparison where a number is expected");
  }

  size_t condition() {
    return joined("or", Kind::either, [&] { return joined("and", Kind::both, [&] { return denied(); }); });
  }

  template <class F>
  size_t joined(std::string_view op, Kind kind, const F& operand) {
    size_t left = operand();
    for (;;) {
      next();
      const size_t at = at_;
      if (!take_word(op)) return left;
      require_truth(left);
      const size_t right = operand();
      require_truth(right);
      left = join(kind, at, left, right);
    }
  }

  size_t denied() {
    next();
    const size_t at = at_;
    if (!take_word("not")) return comparison();
    if (++depth_ > kMaxConditionDepth) fail(at_, fmt::format("nesting deeper than {}", kMaxConditionDepth));
    const size_t of = denied();
    --depth_;
    require_truth(of);
    return join(Kind::negation, at, of, of);
  }

  std::optional<std::string_view> comparison_here() {
    next();
    for (const std::string_view op : {"==", "!=", "<=", ">=", "<", ">"})
      if (text_.substr(at_).starts_with(op)) return op;
    return std::nullopt;
  }

  size_t comparison() {
    const size_t left = sum();
    next();
    const size_t at = at_;
    if (const auto op = comparison_here()) {
      at_ += op->size();
      return compare_nodes(*op, at, left, sum());
    }
    if (take_word("in")) return among(left, at);
    if (word() != "not") return left;
    at_ += 3;
    if (!take_word("in"))
      fail(at, "expected an operator, found 'not'", "not stands before a comparison, or in front of in");
    const size_t in = among(left, at);
    return join(Kind::negation, at, in, in);
  }

  size_t compare_nodes(std::string_view op, size_t at, size_t left, size_t right) {
    const bool texts = node(left).kind == Kind::text || node(right).kind == Kind::text;
    for (const size_t i : {left, right}) {
      const Kind kind = node(i).kind;
      if (!texts) {
        require_number(i);
      } else if (kind != Kind::column && kind != Kind::text) {
        fail(at, "a text is compared with a number", "a text stands in single quotes, a number in none");
      }
    }
    const size_t made = join(Kind::comparison, at, left, right, op);
    node(made).texts = texts;
    return made;
  }

  size_t among(size_t left, size_t at) {
    if (node(left).kind != Kind::column) require_number(left);
    if (!take('[')) fail(at_, "expected '[' behind 'in'", "such as kind in ['cat', 'dog']");
    Node made{.kind = Kind::among, .at = at, .left = left, .right = left};
    do {
      next();
      const size_t begin = at_;
      const bool is_text = next() == '\'';
      if (made.numbers.empty() && made.words.empty()) made.texts = is_text;
      if (is_text != made.texts) fail(begin, "a list of texts and numbers", "a list has one of them");
      if (is_text) {
        made.words.push_back(quoted('\''));
      } else {
        const bool minus = take('-');
        if (!is_digit(next()) && next() != '.') fail(at_, "expected a number or a text in single quotes");
        made.numbers.push_back(minus ? -literal() : literal());
      }
    } while (take(','));
    if (!take(']')) fail(at_, "expected ',' or ']'");
    if (made.texts && node(left).kind != Kind::column)
      fail(at, "a number is looked for among texts", "a text stands in single quotes, a number in none");
    return add(std::move(made));
  }

  template <class F>
  size_t chain(std::string_view operators, const F& operand) {
    size_t left = operand();
    for (;;) {
      const char op = next();
      if (op == '\0' || operators.find(op) == std::string_view::npos) return left;
      const size_t at = at_++;
      if ((op == '*' || op == '/') && at_ < text_.size() && text_[at_] == op)
        fail(at, fmt::format("there is no operator '{}{}'", op, op));
      require_number(left);
      const size_t right = operand();
      require_number(right);
      left = join(Kind::arithmetic, at, left, right, std::string_view(&op, 1));
    }
  }
  size_t sum() {
    return chain("+-", [&] { return chain("*/%", [&] { return unary(); }); });
  }

  size_t unary() {
    if (++depth_ > kMaxConditionDepth) fail(at_, fmt::format("nesting deeper than {}", kMaxConditionDepth));
    const size_t made = operand();
    --depth_;
    return made;
  }

  size_t operand() {
    const char c = next();
    const size_t at = at_;
    if (take('-')) {
      const size_t zero = add({.kind = Kind::number, .at = at});
      const size_t of = unary();
      require_number(of);
      return join(Kind::arithmetic, at, zero, of, "-");
    }
    if (take('(')) return closed(condition());
    if (is_digit(c) || c == '.') return add({.kind = Kind::number, .at = at, .number = literal()});
    if (c == '\'') return add({.kind = Kind::text, .at = at, .word = quoted('\'')});
    if (c == '`') return column(quoted('`'), at);
    if (!starts_name(c))
      fail(at,
           at < text_.size() ? fmt::format("expected a column, a number or a text, found {}", shown(at))
                             : std::string("expected a column, a number or a text at its end"),
           c == '"'   ? "a text stands in single quotes"
           : c == '!' ? "write not"
                      : "");
    const std::string name(word());
    at_ += name.size();
    if (name == "sqrt" && take('(')) {
      const size_t of = closed(condition());
      require_number(of);
      return join(Kind::root, at, of, of);
    }
    if (name == "missing" && take('(')) {
      const size_t of = closed(condition());
      if (node(of).kind != Kind::column) fail(at, "missing() asks for a column");
      return join(Kind::missing, at, of, of);
    }
    for (const std::string_view kept : {"and", "or", "not", "in"})
      if (name == kept) fail(at, fmt::format("expected a column, a number or a text, found '{}'", name));
    return column(name, at);
  }

  size_t column(const std::string& name, size_t at) {
    return add({.kind = Kind::column, .at = at, .column = find_(name, place(at, at_ - at))});
  }

  size_t closed(size_t inner) {
    if (!take(')')) {
      if (next() == '\0') fail(at_, "expected ')'");
      refuse_rest();
    }
    return inner;
  }

  // The mark is doubled inside.
  std::string quoted(char mark) {
    const size_t begin = at_++;
    std::string out;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == mark) {
        if (!text_.substr(at_ + 1).starts_with(mark)) return ++at_, out;
        ++at_;
      }
      out += text_[at_];
    }
    fail(begin, fmt::format("{} is never closed", mark == '`' ? "the name" : "the text"));
  }

  double literal() {
    const size_t begin = at_;
    while (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.' || exponent(begin))) ++at_;
    const std::string_view digits = text_.substr(begin, at_ - begin);
    double value = 0;
    const std::string fault = parse_number(digits, ElementType::f64, reinterpret_cast<std::byte*>(&value));
    if (!fault.empty()) fail(begin, fmt::format("'{}' {}", digits, fault));
    return value;
  }
  bool exponent(size_t begin) const {
    const char c = text_[at_];
    if (c == 'e' || c == 'E') return at_ > begin;
    return (c == '-' || c == '+') && at_ > begin && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
  }

  std::string_view text_;
  RowCondition& made_;
  const RowCondition::Find& find_;
  size_t at_ = 0, depth_ = 0;
};

RowCondition::RowCondition(std::string_view text, const Location& where, const Find& find) : where_(where) {
  ConditionParser(text, *this, find).run();
}

bool RowCondition::truth(const Node& node, const RowCells& row) const {
  switch (node.kind) {
    case Kind::missing: return row.missing(nodes_[node.left].column);
    case Kind::comparison: return compared(node, row);
    case Kind::among: return listed(node, row);
    case Kind::negation: return !truth(nodes_[node.left], row);
    case Kind::both: return truth(nodes_[node.left], row) && truth(nodes_[node.right], row);
    case Kind::either: return truth(nodes_[node.left], row) || truth(nodes_[node.right], row);
    case Kind::number:
    case Kind::text:
    case Kind::column:
    case Kind::arithmetic:
    case Kind::root: break;
  }
  HEDDLE_CHECK(false, "the parser asks for truths");
  return false;
}

bool RowCondition::compared(const Node& node, const RowCells& row) const {
  const Node &left = nodes_[node.left], &right = nodes_[node.right];
  if (node.texts) return compare(node.word, text(left, row), text(right, row));
  return compare(node.word, number(left, row), number(right, row));
}

bool RowCondition::listed(const Node& node, const RowCells& row) const {
  if (node.texts) return std::ranges::count(node.words, text(nodes_[node.left], row)) > 0;
  return std::ranges::count(node.numbers, number(nodes_[node.left], row)) > 0;
}

double RowCondition::number(const Node& node, const RowCells& row) const {
  if (node.kind == Kind::number) return node.number;
  if (node.kind == Kind::column) return row.number(node.column);
  const double a = number(nodes_[node.left], row);
  if (node.kind == Kind::root) {
    if (a < 0) row.fail(fmt::format("sqrt of {}", a));
    return std::sqrt(a);
  }
  const double b = number(nodes_[node.right], row);
  const char op = node.word[0];
  if ((op == '/' || op == '%') && b == 0) row.fail("division by zero");
  const double result = apply(op, a, b);
  if (!std::isfinite(result)) row.fail("the result is out of range");
  return result;
}

std::string RowCondition::text(const Node& node, const RowCells& row) const {
  return node.kind == Kind::text ? node.word : row.text(node.column);
}

Key where_key() {
  return {.name = "where",
          .type = KeyType::text,
          .doc = "an expression over columns, such as \"size > 3\": which rows are read"};
}

std::string missing_condition_help(const std::string& column) {
  return fmt::format("not missing({0}) and ... leaves such rows out, missing({0}) or ... takes them", named(column));
}

std::string text_condition_help(const std::string& column, std::string_view text) {
  return fmt::format("a text stands in single quotes: {} == '{}'", named(column), printable(text));
}

std::string left_out_note(const RowCondition& condition, const std::string& name, int64_t rows, int64_t all) {
  if (rows == 0 && all > 0)
    throw UserError(condition.where(), fmt::format("{}: 'where' leaves none of the {} rows", name, all));
  return rows == all ? "" : fmt::format("{}: 'where' leaves {} of {} rows", name, rows, all);
}

}  // namespace heddle::runtime::data
