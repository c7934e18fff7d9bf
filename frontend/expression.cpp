#include "frontend/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "frontend/json/json.h"
#include "frontend/limits.h"

namespace heddle::frontend {
namespace {

bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
double real_of(const Number& n) {
  return std::visit([](auto v) { return static_cast<double>(v); }, n);
}

// Recursive descent: sum := product (('+' | '-') product)*, product := unary (('*' | '/' | '%') unary)*,
// unary := '-' unary | number | name | 'sqrt' '(' sum ')' | '(' sum ')'.
class Parser {
 public:
  Parser(std::string_view text, const Scope& scope, const Location& where)
      : text_(text), scope_(scope), where_(where) {}

  Number run() {
    if (text_.size() > kMaxExpressionBytes)
      fail(0, fmt::format("expression longer than {} bytes", kMaxExpressionBytes));
    const Number result = sum();
    skip_space();
    if (at_ < text_.size()) fail(at_, fmt::format("expected an operator, found {}", quote(character(at_))));
    return result;
  }

 private:
  // Positions are exact for strings without escapes, and no escape belongs in an expression.
  [[noreturn]] void fail(size_t at, const std::string& message, const std::string& help = {}) const {
    Location where = where_;
    const auto begin = static_cast<uint32_t>(where.begin + 1 + at);
    if (where.valid() && where.end - where.begin == text_.size() + 2 && begin < where.end) {
      where.begin = begin;
      where.end = begin + 1;
    }
    throw UserError(where, fmt::format("in the expression {}: {}", quote(text_), message), help);
  }

  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  char next() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (next() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }

  Number sum() {
    Number left = product();
    for (;;) {
      const char op = next();
      if (op != '+' && op != '-') return left;
      const size_t at = at_++;
      left = apply(op, left, product(), at);
    }
  }

  Number product() {
    Number left = unary();
    for (;;) {
      const char op = next();
      if (op != '*' && op != '/' && op != '%') return left;
      const size_t at = at_++;
      refuse_double(op, at);
      left = apply(op, left, unary(), at);
    }
  }

  Number unary() {
    if (++depth_ > kMaxExpressionDepth) fail(at_, fmt::format("nesting deeper than {}", kMaxExpressionDepth));
    const Number result = operand();
    --depth_;
    return result;
  }

  // Python's operators for what has none here.
  void refuse_double(char op, size_t at) const {
    if (at + 1 >= text_.size() || text_[at + 1] != op) return;
    if (op == '/')
      fail(at, "there is no operator '//'",
           "'/' of integers divides exactly, and is an error where a remainder is left: c/4; (c - c % 4) / 4 rounds "
           "down");
    if (op == '*') fail(at, "there is no operator '**'", "write the product: c*c");
  }

  Number operand() {
    const char c = next();
    const size_t at = at_;
    if (take('-')) return apply('-', Number{int64_t{0}}, unary(), at);
    if (take('(')) return closed(sum());
    if (is_digit(c) || c == '.') return literal();
    if (starts_name(c)) return name();
    fail(at, at_ < text_.size() ? fmt::format("expected a number or a name, found {}", quote(character(at)))
                                : std::string("expected a number or a name at its end"));
  }

  // All bytes of it: UTF-8.
  std::string_view character(size_t at) const {
    size_t end = at + 1;
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xc0) == 0x80) ++end;
    return text_.substr(at, end - at);
  }

  Number closed(const Number& inner) {
    if (!take(')')) fail(at_, "expected ')'");
    return inner;
  }

  Number literal() {
    const size_t begin = at_;
    while (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.' || exponent(begin))) ++at_;
    const std::string digits(text_.substr(begin, at_ - begin));
    const bool whole = digits.find_first_not_of("0123456789") == std::string::npos;
    try {
      size_t used = 0;
      const Number value =
          whole ? Number{static_cast<int64_t>(std::stoll(digits, &used))} : Number{std::stod(digits, &used)};
      if (used == digits.size()) return value;
    } catch (const std::out_of_range&) {
      fail(begin, fmt::format("{} is out of range", digits));
    } catch (const std::invalid_argument&) {
    }
    fail(begin, fmt::format("{} is not a number", quote(digits)));
  }

  // Whether the character at the cursor belongs to an exponent: 1e-4.
  bool exponent(size_t begin) const {
    const char c = text_[at_];
    if (c == 'e' || c == 'E') return at_ > begin;
    return (c == '-' || c == '+') && at_ > begin && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
  }

  Number name() {
    const size_t begin = at_;
    while (at_ < text_.size() && (starts_name(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word == "sqrt" && next() == '(') return square_root(begin);
    if (const auto value = scope_.find(word)) return *value;
    fail(begin, fmt::format("{} is not defined", quote(word)), suggest_defined(word, scope_.all_names()));
  }

  Number square_root(size_t begin) {
    take('(');
    const double argument = real_of(closed(sum()));
    if (argument < 0) fail(begin, fmt::format("sqrt of {}", argument));
    return std::sqrt(argument);
  }

  Number apply(char op, const Number& a, const Number& b, size_t at) const {
    if (a.index() == 0 && b.index() == 0) return whole(op, std::get<int64_t>(a), std::get<int64_t>(b), at);
    const double x = real_of(a), y = real_of(b);
    if ((op == '/' || op == '%') && y == 0) fail(at, "division by zero");
    const double result = op == '+'   ? x + y
                          : op == '-' ? x - y
                          : op == '*' ? x * y
                          : op == '/' ? x / y
                                      : std::fmod(x, y);
    if (!std::isfinite(result)) fail(at, "the result is out of range");
    return result;
  }

  Number whole(char op, int64_t a, int64_t b, size_t at) const {
    int64_t result = 0;
    bool overflow = false;
    if (op == '+') overflow = __builtin_add_overflow(a, b, &result);
    if (op == '-') overflow = __builtin_sub_overflow(a, b, &result);
    if (op == '*') overflow = __builtin_mul_overflow(a, b, &result);
    if (op == '/' || op == '%') {
      if (b == 0) fail(at, "division by zero");
      overflow = a == std::numeric_limits<int64_t>::min() && b == -1;
      if (!overflow && op == '/' && a % b != 0) {
        fail(at, fmt::format("{} / {} leaves a remainder", a, b),
             fmt::format("write {0}.0 where a real number is meant; (x - x % {0}) / {0} rounds an x that is not "
                         "negative down",
                         b));
      }
      if (!overflow) result = op == '/' ? a / b : a % b;
    }
    if (overflow) fail(at, "the result does not fit in 64 bits");
    return result;
  }

  std::string_view text_;
  const Scope& scope_;
  const Location& where_;
  size_t at_ = 0;
  size_t depth_ = 0;
};

}  // namespace

std::string to_string(const Number& number) {
  return std::visit([](auto value) { return fmt::format("{}", value); }, number);
}

std::optional<Number> Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer) {
    const auto it = scope->names.find(name);
    if (it != scope->names.end()) return it->second;
  }
  return std::nullopt;
}

std::vector<std::string> Scope::all_names() const {
  std::set<std::string> all;
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer) {
    for (const auto& [name, value] : scope->names) all.insert(name);
  }
  return {all.begin(), all.end()};
}

Number evaluate(std::string_view expression, const Scope& scope, const Location& where) {
  return Parser(expression, scope, where).run();
}

std::vector<std::string> names_in(std::string_view expression) {
  std::vector<std::string> names;
  for (size_t at = 0; at < expression.size();) {
    size_t end = at;
    while (end < expression.size() && (starts_name(expression[end]) || is_digit(expression[end]))) ++end;
    if (end > at && starts_name(expression[at])) names.emplace_back(expression.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return names;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes && starts_name(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return starts_name(c) || is_digit(c); });
}

}  // namespace heddle::frontend
