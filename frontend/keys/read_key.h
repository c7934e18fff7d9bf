// Reads a value of the file by its key: checks its kind and, for a number, the range of the key.
//
//   {"patience": 0} by {.name = "patience", .range = at_least(1)}  ->  'patience' must be at least 1, is 0
//
// All functions throw UserError at the value. `what` names it in messages: "train: early_stop: 'patience'".
#pragma once
#include <string>
#include <vector>

#include "frontend/expression.h"
#include "frontend/json/json.h"
#include "ir/keys/key.h"

namespace heddle::frontend {

using ir::Count;
using ir::Key;
using ir::KeyType;

// Checks only the kind of the value. Expressions are not evaluated, because the sizes of a block are not known yet.
void check_value(const Json& value, const Key& key, const std::string& what);

int64_t read_integer(const Json& value, const Key& key, const Scope& scope, const std::string& what);
double read_real(const Json& value, const Key& key, const Scope& scope, const std::string& what);
// A list, or a single number in the place of a list with one entry.
std::vector<int64_t> read_integers(const Json& value, const Key& key, const Scope& scope, const std::string& what);
std::vector<double> read_reals(const Json& value, const Key& key, const Scope& scope, const std::string& what);

// Numbers without a key. A string is evaluated as an expression. An inexact integer is an error.
int64_t evaluate_integer(const Json& value, const Scope& scope, std::string_view what);
double evaluate_real(const Json& value, const Scope& scope, std::string_view what);

}  // namespace heddle::frontend
