#include "tools/command/model_schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/reference.h"
#include "ir/map_def.h"
#include "ir/type.h"
#include "runtime/data/reader_def.h"
#include "runtime/json_text.h"
#include "tools/command/schema_parts.h"

namespace heddle::tools {
namespace {

using frontend::ReferenceEntry;
using frontend::SettingDef;
using frontend::SettingType;
using runtime::json_quoted;
using namespace schema;  // NOLINT: this file writes little else

// A text is an expression where a number may stand.
std::vector<std::string> types_of(SettingType t) {
  switch (t) {
    case SettingType::flag: return {"boolean"};
    case SettingType::integer: return {"integer", "string"};
    case SettingType::real: return {"number", "string"};
    case SettingType::text: return {"string"};
    case SettingType::integers: return {"integer", "string", "array"};
    case SettingType::reals: return {"number", "string", "array"};
    case SettingType::part: return {"string", "object", "number"};
    case SettingType::padding: return {"string", "integer", "array"};
  }
  return {};
}

// What a part is follows from its key: a rate, an initializer, an activation.
std::string value_of(const SettingDef& s) {
  if (!s.words.empty()) return object({{"enum", words(s.words)}});
  if (s.type != SettingType::part) return type(types_of(s.type));
  if (s.name == "lr") return one_of({type({"number", "string"}), ref("schedule")});
  if (s.name.ends_with("init")) return one_of({ref("initializer")});
  return one_of({ref("activation")});
}

std::string setting(const SettingDef& s) {
  Members members{{"anyOf", list({value_of(s)})}};
  if (s.type != SettingType::part && s.words.empty()) members = {{"type", words(types_of(s.type))}};
  if (!s.doc.empty()) members.emplace_back("description", json_quoted(s.doc));
  return object(members);
}

std::string when(const ReferenceEntry& e, Members properties, std::vector<std::string> required = {}) {
  for (const SettingDef& s : e.settings) {
    properties.emplace_back(s.name, setting(s));
    if (s.required) required.push_back(s.name);
  }
  return when_op(e.name, e.doc, properties, required);
}

// Every kind of part that may be a bare name, but nodes.
std::string part(const std::string& kind, const Members& common) {
  std::vector<std::string> names, rules;
  for (const ReferenceEntry& e : frontend::reference_entries())
    if (e.kind == kind) names.push_back(e.name), rules.push_back(when(e, common));
  return named(names, rules);
}

// A loss or a metric: it says what it reads, so no bare name stands for it.
std::string measure(const std::string& kind, const Members& common) {
  std::vector<std::string> names, rules;
  for (const ReferenceEntry& e : frontend::reference_entries())
    if (e.kind == kind) names.push_back(e.name), rules.push_back(when(e, common, {"in"}));
  return by_op(object({{"enum", words(names)}}), rules);
}

std::string node() {
  std::vector<std::string> names, rules;
  const Members common{{"op", "{}"},
                       {"name", type({"string"})},
                       {"in", ref("in")},
                       {"out", one_of({type({"string"}), list_of(type({"string"}))})}};
  for (const ReferenceEntry& e : frontend::reference_entries())
    if (e.kind == "layer") names.push_back(e.name), rules.push_back(when(e, common));
  Members block = common;
  block.emplace_back("repeat", type({"integer", "string"}));
  block.emplace_back("with", map_of(type({"number", "string"})));
  rules.push_back(schema::when(object({{"pattern", "\"^block:\""}}), {}, block, {}));
  const std::string op =
      one_of({object({{"enum", words(names)}}), object({{"type", "\"string\""}, {"pattern", "\"^block:\""}})});
  return one_of({op, by_op(op, rules)});
}

std::string described(const std::string& schema, const std::string& doc) {
  if (doc.empty()) return schema;
  return object({{"anyOf", list({schema})}, {"description", json_quoted(doc)}});
}

std::string value_of(const runtime::data::ReaderKey& key) {
  using runtime::data::KeyType;
  const std::string text = type({"string"});
  switch (key.type) {
    case KeyType::flag: return type({"boolean"});
    case KeyType::integer: return type({"integer", "string"});
    case KeyType::real: return type({"number", "string"});
    case KeyType::text: return key.choices.empty() ? type({"string"}) : object({{"enum", words(key.choices)}});
    case KeyType::path: return type({"string"});
    case KeyType::texts:
    case KeyType::paths: return one_of({type({"string"}), list_of(text)});
    case KeyType::classes: return map_of(one_of({text, list_of(type({"string", "number"}))}));
  }
  return {};
}

// Other keys than those of the reader are the model's inputs, which only the model knows; what they say has a type.
std::string reader_rule(const runtime::data::ReaderDef& def) {
  using runtime::data::ColumnKey;
  Members properties{{"op", "{}"}};
  std::vector<std::string> required;
  for (const runtime::data::ReaderKey& key : def.keys) {
    properties.emplace_back(key.name, described(value_of(key), key.doc));
    if (key.required) required.push_back(key.name);
  }
  const std::string column = def.column == ColumnKey::words
                                 ? one_of({type({"string", "integer"}), list_of(type({"string", "integer"}))})
                                 : one_of({type({"string"}), list_of(type({"string"}))});
  return when_op(def.name, def.doc, properties, required, column);
}

std::string reader() {
  std::vector<std::string> rules;
  for (const std::string& name : runtime::data::reader_names())
    rules.push_back(reader_rule(*runtime::data::find_reader(name)));
  return by_op(object({{"enum", words(runtime::data::reader_names())}}), rules);
}

std::string value_of(const ir::MapKey& key) {
  using ir::MapKeyType;
  std::string number = type({"number", "string"}), whole = type({"integer", "string"});
  switch (key.type) {
    case MapKeyType::real: return number;
    case MapKeyType::integer: return whole;
    case MapKeyType::reals: return one_of({number, list_of(number)});
    case MapKeyType::sides:
    case MapKeyType::borders: return one_of({whole, list_of(whole)});
    case MapKeyType::dtype: return ref("dtype");
  }
  return {};
}

std::string data_map() {
  std::vector<std::string> rules;
  for (const std::string& name : ir::map_names()) {
    const ir::MapDef& def = *ir::find_map(name);
    Members properties{{"op", "{}"}};
    std::vector<std::string> required;
    for (const ir::MapKey& key : def.keys) {
      properties.emplace_back(key.name, value_of(key));
      if (key.required) required.push_back(key.name);
    }
    rules.push_back(when_op(name, def.doc, properties, required));
  }
  return named(ir::map_names(), rules);
}

// The optimizer, whose groups have its settings and say which parameters they are for.
std::string optimizer() {
  std::vector<std::string> names, rules;
  const std::string globs = one_of({type({"string"}), list_of(type({"string"}))});
  for (const ReferenceEntry& e : frontend::reference_entries()) {
    if (e.kind != "optimizer") continue;
    Members group{{"match", globs}};
    for (const SettingDef& s : e.settings) group.emplace_back(s.name, setting(s));
    names.push_back(e.name);
    rules.push_back(when(e, {{"op", "{}"}, {"groups", list_of(closed(group, {"match"}))}}));
  }
  return named(names, rules);
}

// A layer by its name, with the settings that it has.
std::string activation() { return part("layer", {{"op", "{}"}}); }

std::string data() {
  const std::string fraction = closed({{"fraction", type({"number", "string"})}}, {"fraction"});
  return closed({{"train", ref("reader")},
                 {"validation", one_of({fraction, ref("reader")})},
                 {"test", ref("reader")},
                 {"map", map_of(list_of(ref("map")))}});
}

std::string train() {
  const std::string count = type({"integer", "string"}), number = type({"number", "string"});
  const std::string names = one_of({type({"string"}), list_of(type({"string"}))});
  const std::string early_stop = closed({{"on", type({"string"})},
                                         {"mode", object({{"enum", words({"min", "max"})}})},
                                         {"patience", count},
                                         {"min_delta", number},
                                         {"restore_best", type({"boolean"})}});
  const std::string every = closed({{"steps", count}, {"epochs", count}, {"minutes", number}});
  const std::string checkpoint = closed({{"every", every}, {"keep", count}});
  return closed({{"batch", one_of({type({"integer"}), map_of(type({"integer", "string"}))})},
                 {"epochs", count},
                 {"steps", count},
                 {"seed", count},
                 {"drop_last", type({"boolean"})},
                 {"accumulate", object({{"const", "1"}})},
                 {"loss", one_of({ref("loss"), list_of(ref("loss"))})},
                 {"metrics", list_of(ref("metric"))},
                 {"optimizer", ref("optimizer")},
                 {"clip_norm", number},
                 {"gradient_norm", type({"boolean"})},
                 {"freeze", names},
                 {"init", ref("initializer")},
                 {"average", closed({{"decay", number}, {"start", count}})},
                 {"precision", closed({{"compute", type({"string"})}})},
                 {"early_stop", early_stop},
                 {"checkpoint", checkpoint}},
                {"batch"});
}

std::string definitions() {
  const Members metric{{"op", "{}"}, {"in", ref("in")}};
  Members loss = metric;
  loss.emplace_back("weights", type({"string"}));
  const std::string block = closed({{"inputs", list_of(type({"string"}))},
                                    {"nodes", list_of(ref("node"))},
                                    {"output", type({"string"})},
                                    {"let", map_of(type({"number", "string"}))}},
                                   {"inputs", "nodes", "output"});
  std::vector<std::string> types;
  for (const ir::DType dtype : ir::all_dtypes()) types.push_back(ir::to_string(dtype));
  const std::string input =
      closed({{"shape", list_of(type({"integer", "string"}))}, {"dtype", ref("dtype")}}, {"shape"});
  // A name or a number, a list of them, or an object that maps the names of the op's inputs to them.
  const std::string read = type({"string", "number"});
  return object({{"in", one_of({read, list_of(read), map_of(read)})},
                 {"node", node()},
                 {"block", block},
                 {"input", input},
                 {"loss", measure("loss", loss)},
                 {"metric", measure("metric", metric)},
                 {"optimizer", optimizer()},
                 {"schedule", part("schedule", {{"op", "{}"}})},
                 {"initializer", part("initializer", {{"op", "{}"}})},
                 {"activation", activation()},
                 {"dtype", object({{"enum", words(types)}})},
                 {"reader", reader()},
                 {"map", data_map()},
                 {"train", train()},
                 {"data", data()}});
}

}  // namespace

std::string model_schema() {
  const Members top{{"$schema", type({"string"})},
                    {"format", object({{"const", "\"heddle-model/1\""}})},
                    {"name", type({"string"})},
                    {"layout", object({{"enum", words({"NHWC", "NCHW"})}})},
                    {"let", map_of(type({"number", "string"}))},
                    {"inputs", map_of(ref("input"))},
                    {"blocks", map_of(ref("block"))},
                    {"nodes", list_of(ref("node"))},
                    {"outputs", map_of(type({"string"}))},
                    {"train", ref("train")},
                    {"data", ref("data")},
                    {"small", type({"object"})}};
  std::string text = closed(top, {"format", "name", "inputs", "nodes"});
  text.pop_back();
  return text + fmt::format(
                    ", \"$schema\": \"https://json-schema.org/draft/2020-12/schema\", \"title\": \"heddle-model/1\", "
                    "\"$defs\": {}}}\n",
                    definitions());
}

}  // namespace heddle::tools
