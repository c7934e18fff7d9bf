#include "tools/command/schema_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/json_text.h"

namespace heddle::tools::schema {

using runtime::json_quoted;

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
std::string map_of(const std::string& item) { return object({{"type", "\"object\""}, {"additionalProperties", item}}); }
std::string one_of(const std::vector<std::string>& schemas) { return object({{"anyOf", list(schemas)}}); }
std::string closed(const Members& properties, const std::vector<std::string>& required) {
  Members members{{"type", "\"object\""}, {"properties", object(properties)}, {"additionalProperties", "false"}};
  if (!required.empty()) members.emplace_back("required", words(required));
  return object(members);
}

std::string when_op(const std::string& name, const std::string& doc, const Members& properties,
                    const std::vector<std::string>& required, const std::string& others) {
  Members then{{"properties", object(properties)}, {"additionalProperties", others}};
  if (!doc.empty()) then.emplace_back("description", json_quoted(doc));
  if (!required.empty()) then.emplace_back("required", words(required));
  const std::string op = object({{"op", object({{"const", json_quoted(name)}})}});
  return object({{"if", object({{"properties", op}})}, {"then", object(then)}});
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
