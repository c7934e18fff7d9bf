#include "frontend/keys/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "frontend/json/json.h"
#include "frontend/model.h"
#include "ir/check.h"

namespace heddle::frontend {
Settings::Settings(const std::vector<Json>& given, std::span<const Key> defs, const Scope& scope, std::string title,
                   Location where)
    : given_(given), defs_(defs), scope_(scope), title_(std::move(title)), where_(where) {}

const Key& Settings::def(std::string_view name) const {
  const Key* key = find_key(defs_, name);
  HEDDLE_CHECK(key != nullptr, fmt::format("{} declares no setting '{}'", title_, name));
  return *key;
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

std::string Settings::named(std::string_view name) const { return fmt::format("{}: '{}'", title_, name); }

int64_t Settings::integer(std::string_view name) const {
  const Json* value = json(name);
  return value == nullptr ? std::get<int64_t>(*def(name).fallback)
                          : read_integer(*value, def(name), scope_, named(name));
}

double Settings::real(std::string_view name) const {
  const Json* value = json(name);
  if (value != nullptr) return read_real(*value, def(name), scope_, named(name));
  const ir::Attr& fallback = *def(name).fallback;
  if (const auto* whole = std::get_if<int64_t>(&fallback)) return static_cast<double>(*whole);
  return std::get<double>(fallback);
}

ir::Dims Settings::integers(std::string_view name) const {
  const Json* value = json(name);
  return value == nullptr ? std::get<ir::Dims>(*def(name).fallback)
                          : read_integers(*value, def(name), scope_, named(name));
}

std::vector<double> Settings::reals(std::string_view name) const {
  const Json* value = json(name);
  return value == nullptr ? std::vector<double>{} : read_reals(*value, def(name), scope_, named(name));
}

void Settings::check_ranges() const {
  for (const Json& value : given_) {
    const Key* key = find_key(defs_, value.key);
    if (key != nullptr && key->type == KeyType::integer) integers(value.key);
    if (key != nullptr && key->type == KeyType::real) reals(value.key);
  }
}

std::string op_remedy(const Json& object) {
  std::string form = "\"op\" says what it is: {\"op\": NAME, ...}";
  if (std::ranges::count(object.nulls, "op", &Json::key) > 0) return form;
  for (const std::vector<Json>* members : {&object.items, &object.nulls})
    for (const Json& member : *members)
      if (std::string hint = suggest_word(member.key, {"op"}); !hint.empty()) return hint;
  return form;
}

const Json& read_op(const Json& object, const std::string& what) {
  const Json* op = as_object(object, what).find("op");
  if (op == nullptr) throw UserError(object.where, fmt::format("{} has no \"op\"", what), op_remedy(object));
  as_text(*op, fmt::format("{}: 'op'", what));
  return *op;
}

Part read_part(const Json& value, std::string_view what) {
  Part part;
  part.where = part.op_where = value.where;
  if (value.kind == Json::Kind::text) {
    part.op = value.text;
    return part;
  }
  if (value.kind != Json::Kind::object) {
    throw UserError(value.where,
                    fmt::format("{}: expected a name or an object with an \"op\", found {}", what, describe(value)));
  }
  const Json& op = read_op(value, std::string(what));
  part.op = op.text;
  part.op_where = op.where;
  for (const Json& member : value.items) {
    if (member.key != "op") part.settings.push_back(member);
  }
  part.nulls = value.nulls;
  return part;
}

}  // namespace heddle::frontend
