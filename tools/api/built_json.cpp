#include "tools/api/built_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontend/limits.h"
#include "ir/diagnostic.h"

namespace heddle::api {
namespace {

using frontend::Json;

// The path of an item of a list: by its name where it has one, else by its number.
std::string step_to(const Value& item, size_t number) {
  if (item.kind == Value::Kind::object)
    for (size_t i = 0; i < item.keys.size(); ++i)
      if (item.keys[i] == "name" && item.items[i].kind == Value::Kind::text) return item.items[i].text;
  return std::to_string(number);
}

class Reader {
 public:
  explicit Reader(frontend::Sources& sources) : sources_(sources) {}

  Json read(const Value& value, const std::string& path, size_t depth) {
    Json json;
    json.where = place(path);
    if (depth > frontend::kMaxNesting)
      throw UserError(json.where, fmt::format("nesting deeper than {}", frontend::kMaxNesting));
    switch (value.kind) {
      case Value::Kind::flag: json.kind = Json::Kind::flag, json.flag = value.integer != 0; break;
      case Value::Kind::integer:
        json.kind = Json::Kind::integer, json.integer = value.integer;
        json.real = static_cast<double>(value.integer);
        break;
      case Value::Kind::real: json.kind = Json::Kind::real, json.real = finite(value.real, json.where); break;
      case Value::Kind::text: json.kind = Json::Kind::text, json.text = value.text; break;
      case Value::Kind::list: json.kind = Json::Kind::list, read_items(value, path, depth, json); break;
      case Value::Kind::object: json.kind = Json::Kind::object, read_members(value, path, depth, json); break;
    }
    return json;
  }

 private:
  // A place without a text: its end lies before its beginning.
  Location place(const std::string& path) { return {&sources_.add(path.empty() ? "<built>" : path, {}), 1, 0}; }

  static double finite(double number, const Location& where) {
    if (!std::isfinite(number)) throw UserError(where, fmt::format("expected a finite number, found {}", number));
    return number;
  }

  void read_items(const Value& list, const std::string& path, size_t depth, Json& into) {
    for (size_t i = 0; i < list.items.size(); ++i)
      into.items.push_back(read(list.items[i], path + "." + step_to(list.items[i], i), depth + 1));
  }

  void read_members(const Value& object, const std::string& path, size_t depth, Json& into) {
    for (size_t i = 0; i < object.items.size(); ++i) {
      const std::string& key = object.keys[i];
      Json member = read(object.items[i], path.empty() ? key : path + "." + key, depth + 1);
      if (into.find(key) != nullptr)
        throw UserError(member.where, fmt::format("the key {} is given twice", frontend::quote(key)));
      member.key = key;
      member.key_where = member.where;
      into.items.push_back(std::move(member));
    }
  }

  frontend::Sources& sources_;
};

}  // namespace

Json built_json(const Value& model, frontend::Sources& sources) { return Reader(sources).read(model, "", 1); }

}  // namespace heddle::api
