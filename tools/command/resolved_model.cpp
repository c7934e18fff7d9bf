#include "tools/command/resolved_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/json/json.h"
#include "frontend/json/overrides.h"
#include "runtime/json_text.h"

namespace heddle::tools {
namespace {

using frontend::describe;
using frontend::Json;

// On one line where that is short, else a line for each member.
constexpr size_t kLine = 100;

std::string print(const Json& json, size_t indent);

std::string print_items(const Json& json, size_t indent, bool lines) {
  const bool object = json.kind == Json::Kind::object;
  const std::string begin = lines ? "\n" + std::string(indent + 2, ' ') : "";
  std::string text;
  for (const Json& item : json.items) {
    if (!text.empty()) text += lines ? "," : ", ";
    text += begin;
    if (object) text += runtime::json_quoted(item.key) + ": ";
    text += print(item, indent + 2);
  }
  if (lines) text += "\n" + std::string(indent, ' ');
  return object ? "{" + text + "}" : "[" + text + "]";
}

std::string print(const Json& json, size_t indent) {
  switch (json.kind) {
    case Json::Kind::null: return "null";
    case Json::Kind::flag: return json.flag ? "true" : "false";
    case Json::Kind::integer: return std::to_string(json.integer);
    case Json::Kind::big: return fmt::format("{}", json.real);
    case Json::Kind::real: return runtime::json_number(json.real);
    case Json::Kind::text: return runtime::json_quoted(json.text);
    case Json::Kind::list:
    case Json::Kind::object: break;
  }
  if (json.items.empty()) return json.kind == Json::Kind::object ? "{}" : "[]";
  std::string line = print_items(json, indent, false);
  if (line.size() + indent <= kLine && line.find('\n') == std::string::npos) return line;
  return print_items(json, indent, true);
}

void drop(Json& json, std::string_view key) {
  std::erase_if(json.items, [&](const Json& member) { return member.key == key; });
}

void drop_nulls(Json& json) {
  if (json.kind == Json::Kind::object)
    std::erase_if(json.items, [](const Json& member) { return member.kind == Json::Kind::null; });
  for (Json& item : json.items) drop_nulls(item);
}

std::string short_text(const Json* json) {
  if (json == nullptr) return {};
  const std::string text = print(*json, 0);
  return text.size() <= 60 && text.find('\n') == std::string::npos ? text : describe(json->kind);
}

std::string name_of(const Json& item) {
  const Json* name = item.kind == Json::Kind::object ? item.find("name") : nullptr;
  return name != nullptr && name->kind == Json::Kind::text ? name->text : std::string();
}

std::string joined(const std::string& path, const std::string& key) { return path.empty() ? key : path + "." + key; }

void compare(const Json* first, const Json* second, const std::string& path, std::vector<Difference>& found);

void compare_members(const Json& first, const Json& second, const std::string& path, std::vector<Difference>& found) {
  for (const Json& item : first.items) compare(&item, second.find(item.key), joined(path, item.key), found);
  for (const Json& item : second.items)
    if (first.find(item.key) == nullptr) compare(nullptr, &item, joined(path, item.key), found);
}

void compare_items(const Json& first, const Json& second, const std::string& path, std::vector<Difference>& found) {
  for (size_t i = 0; i < std::max(first.items.size(), second.items.size()); ++i) {
    const Json* a = i < first.items.size() ? &first.items[i] : nullptr;
    const Json* b = i < second.items.size() ? &second.items[i] : nullptr;
    const std::string name = a && b && name_of(*a) == name_of(*b) ? name_of(*a) : std::string();
    compare(a, b, joined(path, name.empty() ? std::to_string(i) : name), found);
  }
}

void compare(const Json* first, const Json* second, const std::string& path, std::vector<Difference>& found) {
  if (first != nullptr && second != nullptr && first->kind == second->kind) {
    if (first->kind == Json::Kind::object) return compare_members(*first, *second, path, found);
    if (first->kind == Json::Kind::list) return compare_items(*first, *second, path, found);
  }
  if (first != nullptr && second != nullptr && print(*first, 0) == print(*second, 0)) return;
  found.push_back({path, short_text(first), short_text(second)});
}

}  // namespace

std::string resolved_model(const SourceFile& file, const frontend::ReadOptions& options) {
  frontend::Sources sources;
  Diagnostics errors;
  Json json = frontend::parse_json(file);
  frontend::apply_overrides(json, options, sources, errors);
  errors.throw_if_any();
  drop(json, "small");
  drop(json, "$schema");
  drop_nulls(json);
  return print(json, 0) + "\n";
}

std::vector<Difference> model_differences(const std::string& first, const std::string& second) {
  const SourceFile files[] = {{"the first model", first}, {"the second model", second}};
  const Json a = frontend::parse_json(files[0]), b = frontend::parse_json(files[1]);
  std::vector<Difference> found;
  compare(&a, &b, "", found);
  return found;
}

}  // namespace heddle::tools
