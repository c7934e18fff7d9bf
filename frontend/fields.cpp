#include "frontend/fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/planned.h"
#include "frontend/settings.h"
#include "ir/check.h"

namespace heddle::frontend {

Fields::Fields(const Json& object, std::string what, Diagnostics& errors)
    : object_(object), what_(std::move(what)), errors_(errors) {
  guard([&] { as_object(object_, what_); });
}

std::string Fields::named(std::string_view key) const { return fmt::format("{}: '{}'", what_, key); }

void guarded(Diagnostics& errors, const std::function<void()>& f) {
  try {
    f();
  } catch (const UserError& error) {
    errors.add(error);
  }
}

void Fields::guard(const std::function<void()>& f) { guarded(errors_, f); }

const Json* Fields::take(std::string_view key) {
  asked_.emplace(key);
  return object_.find(key);
}

const Json* Fields::require(std::string_view key, const std::string& remedy) {
  const Json* value = take(key);
  if (value == nullptr && object_.kind == Json::Kind::object) {
    missing_.push_back({std::string(key), remedy});
  }
  return value;
}

std::optional<Json> Fields::copy(std::string_view key) {
  const Json* value = take(key);
  return value == nullptr ? std::nullopt : std::optional<Json>(*value);
}

std::optional<bool> Fields::flag(std::string_view key) {
  std::optional<bool> out;
  if (const Json* value = take(key)) guard([&] { out = as_flag(*value, named(key)); });
  return out;
}

std::optional<std::string> Fields::text(std::string_view key) {
  std::optional<std::string> out;
  if (const Json* value = take(key)) guard([&] { out = as_text(*value, named(key)); });
  return out;
}

std::optional<int64_t> Fields::integer(std::string_view key, const Scope& scope, int64_t low, int64_t high) {
  std::optional<int64_t> out;
  if (const Json* value = take(key)) {
    guard([&] {
      const int64_t number = evaluate_integer(*value, scope, named(key));
      if (number < low || number > high) {
        throw UserError(value->where,
                        fmt::format("{} must be between {} and {}, is {}", named(key), low, high, number));
      }
      out = number;
    });
  }
  return out;
}

std::optional<double> Fields::real(std::string_view key, const Scope& scope) {
  std::optional<double> out;
  if (const Json* value = take(key)) guard([&] { out = evaluate_real(*value, scope, named(key)); });
  return out;
}

void Fields::unsupported(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    asked_.insert(key);
    const Json* value = object_.find(key);
    if (const auto null = std::ranges::find(object_.nulls, key, &Json::key); null != object_.nulls.end())
      value = &*null;
    if (value == nullptr) continue;
    const Planned* plan = find_planned(PlannedKind::key, key);
    HEDDLE_CHECK(plan != nullptr, key);
    errors_.error(value->key_where, fmt::format("{} is not supported by this version", named(key)),
                  std::string(plan->instead));
  }
}

void Fields::report_missing() {
  const Location start{object_.where.file, object_.where.begin, object_.where.begin + 1};
  for (const Needed& m : missing_) errors_.error(start, fmt::format("{} has no '{}'", what_, m.name), m.remedy);
  missing_.clear();
}

void Fields::finish() {
  const auto check = [&](const Json& member) {
    if (asked_.contains(member.key)) return;
    std::string hint = suggest_needed(member.key, missing_);
    if (hint.empty()) hint = suggest(member.key, {asked_.begin(), asked_.end()});
    errors_.error(member.key_where, fmt::format("{} has no key {}", what_, quote(member.key)), hint);
  };
  if (object_.kind == Json::Kind::object) {
    for (const Json& member : object_.items) check(member);
    for (const Json& member : object_.nulls) check(member);
  }
  report_missing();
}

Fields::~Fields() { report_missing(); }

}  // namespace heddle::frontend
