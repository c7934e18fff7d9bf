#include "tools/command/schema_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "runtime/json_text.h"

namespace heddle::tools::schema {

using runtime::json_quoted;

namespace {

const std::string kAbsent = R"({"type": ["null"]})";

constexpr std::string_view kTypes = R"({"type": [)", kAny = R"({"anyOf": [)";

// Null goes into the list that the schema begins with, so that its description stays where editors look for it.
std::string or_null(const std::string& schema) {
  if (schema == "{}") return schema;
  if (schema.starts_with(kTypes)) return fmt::format("{}\"null\", {}", kTypes, schema.substr(kTypes.size()));
  if (schema.starts_with(kAny)) return fmt::format("{}{}, {}", kAny, kAbsent, schema.substr(kAny.size()));
  return one_of({kAbsent, schema});
}

Members members_of(const Members& properties, const std::vector<std::string>& required, const std::string& others) {
  Members out;
  for (const auto& [key, value] : properties)
    out.emplace_back(key, std::ranges::count(required, key) > 0 ? value : or_null(value));
  return {{"properties", object(out)}, {"additionalProperties", others.empty() ? "false" : or_null(others)}};
}

}  // namespace

bool begins_with_list(const std::string& schema) { return schema.starts_with(kTypes) || schema.starts_with(kAny); }

std::string object(const Members& members) {
  std::vector<std::string> items;
  items.reserve(members.size());
  for (const auto& [key, value] : members) items.push_back(json_quoted(key) + ": " + value);
  return fmt::format("{{{}}}", fmt::join(items, ", "));
}
std::string list(const std::vector<std::string>& items) { return fmt::format("[{}]", fmt::join(items, ", ")); }
std::string words(const std::vector<std::string>& texts) {
  std::vector<std::string> items;
  items.reserve(texts.size());
  for (const std::string& text : texts) items.push_back(json_quoted(text));
  return list(items);
}
std::string type(const std::vector<std::string>& names) { return object({{"type", words(names)}}); }
std::string ref(const std::string& name) { return object({{"$ref", json_quoted("#/$defs/" + name)}}); }
std::string list_of(const std::string& item) { return object({{"type", "\"array\""}, {"items", item}}); }
std::string map_of(const std::string& item) {
  return object({{"type", "\"object\""}, {"additionalProperties", or_null(item)}});
}
std::string one_of(const std::vector<std::string>& schemas) { return object({{"anyOf", list(schemas)}}); }
std::string closed(const Members& properties, const std::vector<std::string>& required) {
  Members members = members_of(properties, required, {});
  members.emplace(members.begin(), "type", "\"object\"");
  if (!required.empty()) members.emplace_back("required", words(required));
  return object(members);
}

std::string when(const std::string& op, const std::string& doc, const Members& properties,
                 const std::vector<std::string>& required, const std::string& others, const std::string& instead) {
  Members then = members_of(properties, required, others);
  if (!doc.empty()) then.emplace_back("description", json_quoted(doc));
  const auto needs = [](const std::vector<std::string>& keys) { return object({{"required", words(keys)}}); };
  if (!required.empty() && instead.empty()) then.emplace_back("required", words(required));
  if (!required.empty() && !instead.empty()) then.emplace_back("anyOf", list({needs(required), needs({instead})}));
  return object({{"if", object({{"properties", object({{"op", op}})}})}, {"then", object(then)}});
}

std::string when_op(const std::string& name, const std::string& doc, const Members& properties,
                    const std::vector<std::string>& required, const std::string& others, const std::string& instead) {
  return when(object({{"const", json_quoted(name)}}), doc, properties, required, others, instead);
}

std::string by_op(const std::string& op, const std::vector<std::string>& rules) {
  return object({{"type", "\"object\""},
                 {"properties", object({{"op", op}})},
                 {"required", words({"op"})},
                 {"allOf", list(rules)}});
}

std::string named(const std::vector<std::string>& names, const std::vector<std::string>& rules) {
  const std::string op = object({{"enum", words(names)}});
  return one_of({op, by_op(op, rules)});
}

}  // namespace heddle::tools::schema
