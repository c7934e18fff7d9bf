#include "tools/command/key_schema.h"

#include "ir/keys/key_text.h"
#include "runtime/json_text.h"

namespace heddle::tools::schema {
namespace {

using ir::Count;
using ir::Key;
using ir::KeyType;
using runtime::json_quoted;

// A text is an expression where a number may stand.
std::string item(const Key& key) {
  std::string whole = type({"integer", "string"}), text = type({"string"});
  if (!key.words.empty() && key.type != KeyType::real) return object({{"enum", words(key.words)}});
  switch (key.type) {
    case KeyType::flag: return type({"boolean"});
    case KeyType::integer:
    case KeyType::size: return whole;
    case KeyType::real: return type({"number", "string"});
    case KeyType::text:
    case KeyType::path: return text;
    case KeyType::dtype: return ref("dtype");
    case KeyType::word: return type({"string", "integer"});
    case KeyType::part:
      return key.of == "schedule" ? one_of({type({"number", "string"}), ref(key.of)}) : one_of({ref(key.of)});
    case KeyType::object: {
      const std::string members = key.keys != nullptr ? closed_object(key.keys()) : ref(key.of);
      return ir::is_switch(key) ? one_of({type({"boolean"}), members}) : members;
    }
    case KeyType::padding:
    case KeyType::sides:
    case KeyType::borders: return one_of({whole, list_of(whole)});
    case KeyType::classes: return one_of({text, list_of(text)});
    case KeyType::sizes: return one_of({type({"integer"}), map_of(whole)});
    case KeyType::reads: return ref("in");
    case KeyType::planned: return object({{"const", key.fallback ? ir::to_string(*key.fallback) : "null"}});
    case KeyType::any: return key.of.empty() ? "{}" : ref(key.of);
  }
  return {};
}

std::string counted(const Key& key) {
  switch (key.count) {
    case Count::one: return item(key);
    case Count::several: return one_of({item(key), list_of(item(key))});
    case Count::list: return list_of(item(key));
    case Count::by_name: return map_of(item(key));
    case Count::lists_by_name: return map_of(list_of(item(key)));
  }
  return {};
}

}  // namespace

std::string described(const std::string& schema, const std::string& doc) {
  if (doc.empty()) return schema;
  const std::string description = "\"description\": " + json_quoted(doc);
  if (schema == "{}") return "{" + description + "}";
  if (!begins_with_list(schema)) return described(one_of({schema}), doc);
  return schema.substr(0, schema.size() - 1) + ", " + description + "}";
}

std::string of_key(const Key& key) { return described(counted(key), key.doc); }

Properties& Properties::add(frontend::Keys keys) {
  for (const Key& key : keys) {
    if (key.type == KeyType::planned && !key.fallback) continue;
    members.emplace_back(key.name, of_key(key));
    if (key.required) required.push_back(key.name);
  }
  return *this;
}

std::string closed_object(frontend::Keys keys) {
  Properties all;
  all.add(keys);
  return closed(all.members, all.required);
}

}  // namespace heddle::tools::schema
