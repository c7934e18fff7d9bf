// Converts JSON values to numbers and back to JSON text. For files that Heddle itself has written.
#pragma once
#include <string>

#include "frontend/json/json.h"
#include "runtime/json_text.h"

namespace heddle::driver {

inline bool is_number(const frontend::Json& json) {
  return json.kind == frontend::Json::Kind::integer || json.kind == frontend::Json::Kind::real;
}
inline double number_of(const frontend::Json& json) {
  return json.kind == frontend::Json::Kind::integer ? static_cast<double>(json.integer) : json.real;
}

// JSON text on one line; numbers as runtime::json_number writes them.
inline std::string json_text(const frontend::Json& json) {
  using Kind = frontend::Json::Kind;
  switch (json.kind) {
    case Kind::null: return "null";
    case Kind::flag: return json.flag ? "true" : "false";
    case Kind::integer: return std::to_string(json.integer);
    case Kind::big:
    case Kind::real: return runtime::json_number(json.real);
    case Kind::text: return runtime::json_quoted(json.text);
    case Kind::list: {
      std::vector<std::string> items;
      for (const frontend::Json& item : json.items) items.push_back(json_text(item));
      return runtime::json_list(items);
    }
    case Kind::object: break;
  }
  runtime::JsonObject object;
  for (const frontend::Json& item : json.items) object.raw(item.key, json_text(item));
  return object.str();
}

}  // namespace heddle::driver
