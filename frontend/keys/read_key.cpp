#include "frontend/keys/read_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontend/limits.h"
#include "frontend/read/planned.h"
#include "ir/check.h"
#include "ir/keys/key_text.h"

namespace heddle::frontend {
namespace {

using Kind = Json::Kind;

bool number_like(const Json& value) {
  return value.kind == Kind::integer || value.kind == Kind::real || value.kind == Kind::text;
}

bool all_number_like(const Json& list) { return std::ranges::all_of(list.items, number_like); }

bool fits_item(const Json& value, const Key& key) {
  switch (key.type) {
    case KeyType::flag: return value.kind == Kind::flag;
    case KeyType::integer:
    case KeyType::word: return value.kind == Kind::integer || value.kind == Kind::text;
    case KeyType::real: return number_like(value);
    case KeyType::text:
    case KeyType::dtype:
    case KeyType::path: return value.kind == Kind::text;
    case KeyType::part:
      // A number is a schedule; of an initializer the layer says what to write for it.
      return value.kind == Kind::text || value.kind == Kind::object ||
             ((key.of == "schedule" || key.of == "initializer") && number_like(value));
    case KeyType::object: return value.kind == Kind::object || (value.kind == Kind::flag && ir::is_switch(key));
    case KeyType::padding:
    case KeyType::sides:
    case KeyType::borders: return number_like(value) || (value.kind == Kind::list && all_number_like(value));
    case KeyType::sizes:  // whose inputs say what to write
    case KeyType::classes:
    case KeyType::size:
    case KeyType::reads:
    case KeyType::planned:
    case KeyType::any: return true;
  }
  return true;
}

void check_item(const Json& value, const Key& key, const std::string& what) {
  if (!fits_item(value, key))
    throw UserError(value.where,
                    fmt::format("{}: expected {}, found {}", what, ir::expected_item(key), describe(value)), key.hint);
  // Beside numbers and expressions words may stand, which the reader of the value knows.
  if (!key.words.empty() && key.type != KeyType::real) require_word(value, key.words, what);
}

void check_planned(const Json& value, const Key& key, const std::string& what) {
  const bool is_default =
      key.fallback && value.kind == Kind::integer && value.integer == std::get<int64_t>(*key.fallback);
  if (is_default || (key.fallback && value.kind == Kind::null)) return;
  const Planned* plan = find_planned(PlannedKind::key, key.name);
  HEDDLE_CHECK(plan != nullptr, key.name);
  throw UserError(value.key_where, fmt::format("{} is not supported by this version", what),
                  std::string(plan->instead));
}

void check_items(const Json& value, const Key& key, const std::string& what) {
  for (const Json& item : value.items) check_item(item, key, what);
}

template <class T>
void require_in_range(const Json& value, const Key& key, T number, const std::string& what) {
  const std::string fault = ir::range_fault(key, static_cast<long double>(number), fmt::format("{}", number));
  if (!fault.empty()) throw UserError(value.where, fmt::format("{} {}", what, fault), key.hint);
}

template <class T>
std::vector<T> read_several(const Json& value, T (*read)(const Json&, const Key&, const Scope&, const std::string&),
                            const Key& key, const Scope& scope, const std::string& what) {
  if (value.kind != Kind::list) return {read(value, key, scope, what)};
  std::vector<T> out;
  for (const Json& item : value.items) out.push_back(read(item, key, scope, what));
  return out;
}

}  // namespace

void check_value(const Json& value, const Key& key, const std::string& what) {
  if (key.type == KeyType::planned) return check_planned(value, key, what);
  switch (key.count) {
    case Count::one: return check_item(value, key, what);
    case Count::several:
      if (value.kind == Kind::list) return check_items(value, key, what);
      if (fits_item(value, key)) return check_item(value, key, what);
      throw UserError(value.where,
                      fmt::format("{}: expected {}, found {}", what, ir::expected_text(key), describe(value)),
                      key.hint);
    case Count::list: as_list(value, what); return;
    case Count::by_name:
    case Count::lists_by_name: as_object(value, what); return;
  }
}

int64_t evaluate_integer(const Json& value, const Scope& scope, std::string_view what) {
  if (value.kind != Kind::text) return as_integer(value, what);
  const Number number = evaluate(value.text, scope, value.where);
  if (const auto* whole = std::get_if<int64_t>(&number)) return *whole;
  const double real = std::get<double>(number);
  if (real == std::floor(real) && std::abs(real) < static_cast<double>(kMaxExactInteger))
    return static_cast<int64_t>(real);
  throw UserError(value.where, fmt::format("{}: expected an integer, {} is {}", what, quote(value.text), real));
}

double evaluate_real(const Json& value, const Scope& scope, std::string_view what) {
  if (value.kind != Kind::text) return as_real(value, what);
  const Number number = evaluate(value.text, scope, value.where);
  if (const auto* whole = std::get_if<int64_t>(&number))
    return exact_real(*whole, value.where, fmt::format("{}: {}", what, quote(value.text)));
  return std::get<double>(number);
}

int64_t read_integer(const Json& value, const Key& key, const Scope& scope, const std::string& what) {
  const int64_t number = evaluate_integer(value, scope, what);
  require_in_range(value, key, number, what);
  return number;
}

double read_real(const Json& value, const Key& key, const Scope& scope, const std::string& what) {
  const double number = evaluate_real(value, scope, what);
  require_in_range(value, key, number, what);
  return number;
}

std::vector<int64_t> read_integers(const Json& value, const Key& key, const Scope& scope, const std::string& what) {
  return read_several<int64_t>(value, read_integer, key, scope, what);
}

std::vector<double> read_reals(const Json& value, const Key& key, const Scope& scope, const std::string& what) {
  return read_several<double>(value, read_real, key, scope, what);
}

}  // namespace heddle::frontend
