#include "frontend/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "frontend/fields.h"
#include "frontend/foreign_names.h"
#include "frontend/layer_context.h"
#include "frontend/limits.h"
#include "frontend/model.h"
#include "ir/check.h"

namespace heddle::frontend {
namespace {

using Kind = Json::Kind;

bool number_like(const Json& value) {
  return value.kind == Kind::integer || value.kind == Kind::real || value.kind == Kind::text;
}

bool all_number_like(const Json& list) { return std::all_of(list.items.begin(), list.items.end(), number_like); }

// Empty where the value's kind fits, else what was expected.
std::string expected(const Json& value, SettingType type) {
  switch (type) {
    case SettingType::flag: return value.kind == Kind::flag ? "" : "true or false";
    case SettingType::integer: return value.kind == Kind::integer || value.kind == Kind::text ? "" : "an integer";
    case SettingType::real: return number_like(value) ? "" : "a number";
    case SettingType::text: return value.kind == Kind::text ? "" : "a string";
    case SettingType::integers:
    case SettingType::reals:
      if (number_like(value) || (value.kind == Kind::list && all_number_like(value))) return "";
      return type == SettingType::integers ? "an integer or a list of integers" : "a number or a list of numbers";
    case SettingType::part:
      return number_like(value) || value.kind == Kind::object ? "" : "a name or an object with an \"op\"";
    case SettingType::padding:
      if (number_like(value) || (value.kind == Kind::list && all_number_like(value))) return "";
      return "\"valid\", \"same\", an integer or a list of integers";
  }
  return "";
}

// The settings that are needed and not given.
std::vector<Needed> missing_settings(const std::vector<Json>& given, std::span<const SettingDef> defs) {
  std::vector<Needed> missing;
  for (const SettingDef& def : defs) {
    const bool found = std::ranges::any_of(given, [&](const Json& value) { return value.key == def.name; });
    if (def.required && !found) missing.push_back({def.name, def.doc});
  }
  return missing;
}

// What the unknown `word` was meant to be; a setting that is needed then leaves `missing`.
std::string suggest_setting(const std::string& word, const std::vector<std::string>& known,
                            std::vector<Needed>& missing) {
  if (std::string hint = suggest_needed(word, missing); !hint.empty()) return hint;
  const bool looks_like_none = foreign_hint(word, known).empty() && nearest(word, known).empty();
  if (missing.size() != 1 || !looks_like_none) return suggest(word, known);
  const Needed only = std::exchange(missing, {}).front();
  return fmt::format("did you mean '{}'? It is needed: {}", only.name, only.remedy);
}

}  // namespace

void check_settings(const GivenSettings& given, std::span<const SettingDef> defs, const std::string& title,
                    const Location& where, const std::vector<std::string>& also, Diagnostics& errors) {
  std::vector<Needed> missing = missing_settings(given.values, defs);
  std::vector<std::string> known = also;
  for (const SettingDef& d : defs) known.push_back(d.name);
  const auto unknown = [&](const Json& value) {
    errors.error(value.key_where, fmt::format("{} has no setting {}", title, quote(value.key)),
                 suggest_setting(value.key, known, missing));
  };
  for (const Json& value : given.values) {
    const auto def = std::find_if(defs.begin(), defs.end(), [&](const SettingDef& d) { return d.name == value.key; });
    if (def == defs.end()) {
      unknown(value);
      continue;
    }
    const std::string wanted = expected(value, def->type), what = fmt::format("{}: '{}'", title, def->name);
    if (!wanted.empty()) {
      errors.error(value.where, fmt::format("{}: expected {}, found {}", what, wanted, describe(value)));
    } else if (!def->words.empty()) {
      guarded(errors, [&] { require_word(value, def->words, what); });
    }
  }
  for (const Json& value : given.nulls)
    if (std::ranges::count(known, value.key) == 0) unknown(value);
  for (const Needed& m : missing) errors.error(where, fmt::format("{} needs '{}': {}", title, m.name, m.remedy));
}

Settings::Settings(const std::vector<Json>& given, std::span<const SettingDef> defs, const Scope& scope,
                   std::string title, Location where)
    : given_(given), defs_(defs), scope_(scope), title_(std::move(title)), where_(where) {}

const SettingDef& Settings::def(std::string_view name) const {
  const auto it = std::find_if(defs_.begin(), defs_.end(), [&](const SettingDef& d) { return d.name == name; });
  HEDDLE_CHECK(it != defs_.end(), fmt::format("{} declares no setting '{}'", title_, name));
  return *it;
}

const Json* Settings::json(std::string_view name) const {
  const auto it = std::find_if(given_.begin(), given_.end(), [&](const Json& value) { return value.key == name; });
  return it == given_.end() ? nullptr : &*it;
}

bool Settings::has(std::string_view name) const { return json(name) != nullptr || def(name).fallback.has_value(); }

Location Settings::where(std::string_view name) const {
  const Json* value = json(name);
  return value == nullptr ? where_ : value->where;
}

void Settings::fail(std::string_view name, const std::string& message, const std::string& help) const {
  throw UserError(where(name), fmt::format("{}: {}", title_, message), help);
}

bool Settings::flag(std::string_view name) const {
  const Json* value = json(name);
  return value == nullptr ? std::get<bool>(*def(name).fallback) : value->flag;
}

std::string Settings::text(std::string_view name) const {
  const Json* value = json(name);
  return value == nullptr ? std::get<std::string>(*def(name).fallback) : value->text;
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

int64_t Settings::evaluate_integer(const Json& value, std::string_view what) const {
  return frontend::evaluate_integer(value, scope_, fmt::format("{}: '{}'", title_, what));
}

double Settings::evaluate_real(const Json& value, std::string_view what) const {
  return frontend::evaluate_real(value, scope_, fmt::format("{}: '{}'", title_, what));
}

int64_t Settings::integer(std::string_view name) const {
  const Json* value = json(name);
  return value == nullptr ? std::get<int64_t>(*def(name).fallback) : evaluate_integer(*value, name);
}

int64_t Settings::positive(std::string_view name) const {
  const int64_t value = integer(name);
  if (value < 1) fail(name, fmt::format("'{}' must be at least 1, is {}", name, value));
  return value;
}

double Settings::positive_real(std::string_view name) const {
  const double value = real(name);
  if (!(value > 0 && fits(value, ir::DType::f32)))
    fail(name, fmt::format("'{}' must be an f32 above 0, is {}", name, value));
  return value;
}

double Settings::real(std::string_view name) const {
  const Json* value = json(name);
  if (value != nullptr) return evaluate_real(*value, name);
  const ir::Attr& fallback = *def(name).fallback;
  if (const auto* whole = std::get_if<int64_t>(&fallback)) return static_cast<double>(*whole);
  return std::get<double>(fallback);
}

ir::Dims Settings::integers(std::string_view name) const {
  const Json* value = json(name);
  if (value == nullptr) return std::get<ir::Dims>(*def(name).fallback);
  if (value->kind != Kind::list) return {evaluate_integer(*value, name)};
  ir::Dims out;
  for (const Json& item : value->items) out.push_back(evaluate_integer(item, name));
  return out;
}

std::vector<double> Settings::reals(std::string_view name) const {
  const Json* value = json(name);
  if (value == nullptr) return {};
  if (value->kind != Kind::list) return {evaluate_real(*value, name)};
  std::vector<double> out;
  for (const Json& item : value->items) out.push_back(evaluate_real(item, name));
  return out;
}

std::string op_remedy(const Json& object) {
  for (const std::vector<Json>* members : {&object.items, &object.nulls})
    for (const Json& member : *members)
      if (std::string hint = suggest_word(member.key, {"op"}); !hint.empty()) return hint;
  return "\"op\" says what it is: {\"op\": NAME, ...}";
}

Part read_part(const Json& value, std::string_view what) {
  Part part;
  part.where = part.op_where = value.where;
  if (value.kind == Kind::text) {
    part.op = value.text;
    return part;
  }
  if (value.kind != Kind::object) {
    throw UserError(value.where,
                    fmt::format("{}: expected a name or an object with an \"op\", found {}", what, describe(value)));
  }
  const Json* op = value.find("op");
  if (op == nullptr) throw UserError(value.where, fmt::format("{} has no \"op\"", what), op_remedy(value));
  part.op = as_text(*op, fmt::format("{}: 'op'", what));
  part.op_where = op->where;
  for (const Json& member : value.items) {
    if (member.key != "op") part.settings.push_back(member);
  }
  part.nulls = value.nulls;
  return part;
}

}  // namespace heddle::frontend
