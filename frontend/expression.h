// Expressions: arithmetic that a model file may write as a string in the place of a number.
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

// The values of names: from `let`, from a block's `with`, and of free dimensions. An inner scope hides names of the
// outer one.
struct Scope {
  std::map<std::string, Number, std::less<>> names;
  const Scope* outer = nullptr;
  std::optional<Number> find(std::string_view name) const;
  std::vector<std::string> all_names() const;
};

// Evaluates the expression. `where` is the place of the string in the file, including its quotes. Throws UserError at
// the character inside the string.
Number evaluate(std::string_view expression, const Scope& scope, const Location& where);

// The names that an expression mentions; empty if it does not parse.
std::vector<std::string> names_in(std::string_view expression);

// Whether the text may name a node, an input or a size: [A-Za-z_][A-Za-z0-9_]*, at most kMaxNameBytes long.
bool is_name(std::string_view text);

}  // namespace heddle::frontend
