// Expressions: the arithmetic a model file may write in a string where a number is expected.
//
//   "0.02/sqrt(2*layers)"  over {layers = 6}  ->  0.00577...
//   "d/2"                  over {d = 7}       ->  error: 7 / 2 leaves a remainder
//
// Integers stay integers (64 bits, overflow is an error); one real operand makes the result real.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/diagnostic.h"

namespace heddle::frontend {

using Number = std::variant<int64_t, double>;
std::string to_string(const Number& number);

// What names mean: `let`, a block's `with`, bound free dimensions. An inner scope hides the outer one's names.
struct Scope {
  std::map<std::string, Number, std::less<>> names;
  const Scope* outer = nullptr;
  std::optional<Number> find(std::string_view name) const;
  std::vector<std::string> all_names() const;
};

// `where` is the string in the file, its quotes included; errors point at the character inside it.
Number evaluate(std::string_view expression, const Scope& scope, const Location& where);

// The names an expression mentions; empty where it does not parse.
std::vector<std::string> names_in(std::string_view expression);

// [A-Za-z_][A-Za-z0-9_]*, at most kMaxNameBytes long: what may name a node, an input, a size.
bool is_name(std::string_view text);

}  // namespace heddle::frontend
