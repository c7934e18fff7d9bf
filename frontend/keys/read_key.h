// A value of the file, by its key: its kind, and as a number within the key's range.
//
//   {"patience": 0} by {.name = "patience", .range = at_least(1)}  ->  'patience' must be at least 1, is 0
//
// All throw UserError at the value. `what` names it in messages: "train: early_stop: 'patience'".
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

// Of the value's kind alone. Expressions are not evaluated: a block's sizes are not known yet.
void check_value(const Json& value, const Key& key, const std::string& what);

int64_t read_integer(const Json& value, const Key& key, const Scope& scope, const std::string& what);
double read_real(const Json& value, const Key& key, const Scope& scope, const std::string& what);
// A list, or the one that stands for it.
std::vector<int64_t> read_integers(const Json& value, const Key& key, const Scope& scope, const std::string& what);
std::vector<double> read_reals(const Json& value, const Key& key, const Scope& scope, const std::string& what);

// Numbers without a key: evaluated where they are strings; integers are exact or an error.
int64_t evaluate_integer(const Json& value, const Scope& scope, std::string_view what);
double evaluate_real(const Json& value, const Scope& scope, std::string_view what);

}  // namespace heddle::frontend
