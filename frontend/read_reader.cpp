#include "frontend/read_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "frontend/fields.h"
#include "frontend/planned.h"
#include "frontend/settings.h"

namespace heddle::frontend {
namespace {

using runtime::data::ClassNames;
using runtime::data::ColumnKey;
using runtime::data::KeyType;
using runtime::data::ReaderDef;
using runtime::data::ReaderKey;
using runtime::data::ReaderValue;

const ReaderDef& find(const Json& op, const std::string& name) {
  if (const ReaderDef* def = runtime::data::find_reader(name)) return *def;
  if (const Planned* plan = find_planned(PlannedKind::reader, name))
    throw UserError(op.where, fmt::format("the reader {} is not supported by this version", name),
                    std::string(plan->instead));
  throw UserError(op.where, fmt::format("there is no reader {}", quote(name)),
                  suggest(name, runtime::data::reader_names()));
}

// What can be said without looking at the disk; links are followed when the data is opened.
void check_path(const Named& path) {
  const std::string& text = path.text;
  const auto fail = [&](const std::string& why) {
    throw UserError(path.where, fmt::format("the path {} {}", quote(text), why),
                    "paths are relative to the model file, or to --data DIR");
  };
  if (text.empty()) fail("is empty");
  if (std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) {
    fail("contains a control character");
  }
  if (text.find("://") != std::string::npos) fail("is a URL: data is read from files only");
  if (text.find('\\') != std::string::npos) fail("contains a backslash: directories are separated by '/'");
  const std::filesystem::path parts(text);
  if (parts.is_absolute()) fail("is absolute");
  for (const auto& part : parts) {
    if (part == "..") fail("leaves the directory with '..'");
  }
}

// A text, or a list of at least one.
std::vector<std::string> texts(const Json& value, const std::string& what) {
  if (value.kind != Json::Kind::list) return {as_text(value, what)};
  if (value.items.empty()) throw UserError(value.where, what + " is empty");
  std::vector<std::string> out;
  for (const Json& item : value.items) out.push_back(as_text(item, what));
  return out;
}

// {"species": ["setosa", "virginica"], "colour": "sorted"}
ClassNames class_names(const Json& value, const std::string& what, const Model& model) {
  ClassNames names;
  for (const Json& item : as_object(value, what).items) {
    if (std::ranges::find(model.inputs, item.key, &InputDef::name) == model.inputs.end())
      throw UserError(item.key_where, fmt::format("{}: there is no input {}", what, quote(item.key)));
    if (item.kind == Json::Kind::list) {
      names[item.key] = texts(item, what);
    } else if (as_text(item, what) == "sorted") {
      names[item.key] = {};
    } else {
      throw UserError(item.where,
                      fmt::format("{}: expected a list of names or \"sorted\", found {}", what, describe(item)));
    }
  }
  return names;
}

void check_choice(const ReaderKey& key, const Json& value, const std::string& reader) {
  if (key.choices.empty() || std::ranges::count(key.choices, value.text) != 0) return;
  throw UserError(value.where, fmt::format("{}: there is no {} {}", reader, key.name, quote(value.text)),
                  suggest(value.text, key.choices));
}

void check_paths(const Json& value, const std::vector<std::string>& paths) {
  const bool list = value.kind == Json::Kind::list;
  for (size_t i = 0; i < paths.size(); ++i) check_path({paths[i], list ? value.items[i].where : value.where});
}

ReaderValue read_value(const ReaderKey& key, const Json& value, const std::string& what, const std::string& reader,
                       const Model& model) {
  switch (key.type) {
    case KeyType::flag: return as_flag(value, what);
    case KeyType::real: return evaluate_real(value, model.let, what);
    case KeyType::classes: return class_names(value, what, model);
    case KeyType::integer: break;
    case KeyType::text:
    case KeyType::texts:
    case KeyType::path:
    case KeyType::paths: {
      const bool several = key.type == KeyType::texts || key.type == KeyType::paths;
      std::vector<std::string> out = several ? texts(value, what) : std::vector{as_text(value, what)};
      if (key.type == KeyType::text) check_choice(key, value, reader);
      if (key.type == KeyType::path || key.type == KeyType::paths) check_paths(value, out);
      return out;
    }
  }
  const int64_t number = evaluate_integer(value, model.let, what);
  if (number < key.low || number > key.high)
    throw UserError(value.where, fmt::format("{} must be between {} and {}, is {}", what, key.low, key.high, number));
  return number;
}

void read_settings(Fields& fields, const ReaderDef& def, const Model& model, DataReader& reader) {
  for (const ReaderKey& key : def.keys) {
    const Json* value = key.required ? fields.require(key.name, key.doc) : fields.take(key.name);
    if (value == nullptr) continue;
    fields.guard([&] {
      reader.settings.push_back(
          {key.name, read_value(key, *value, fields.named(key.name), def.name, model), value->where});
    });
  }
}

// A column's name, or its index.
Named read_word(const Json& value, const std::string& what) {
  if (value.kind == Json::Kind::integer) return {std::to_string(as_integer(value, what)), value.where};
  return {as_text(value, what), value.where};
}

void read_columns(Fields& fields, const ReaderDef& def, const Model& model, DataReader& reader) {
  for (const InputDef& input : model.inputs) {
    if (std::ranges::find(def.keys, input.name, &ReaderKey::name) != def.keys.end())
      throw UserError(reader.where, fmt::format("the input '{}' has the name of a key of {}", input.name, def.name),
                      "give the input another name");
    const Json* column = fields.require(input.name, fmt::format("the reader feeds every input of the model"));
    if (column == nullptr) continue;
    fields.guard([&] {
      const std::string what = fields.named(input.name);
      std::vector<Named>& words = reader.columns[input.name];
      if (def.column != ColumnKey::words) {
        words.push_back({as_text(*column, what), column->where});
        if (def.column == ColumnKey::file) check_path(words[0]);
      } else if (column->kind != Json::Kind::list) {
        words.push_back(read_word(*column, what));
      } else {
        for (const Json& item : column->items) words.push_back(read_word(item, what));
        if (words.empty()) throw UserError(column->where, what + " is empty");
      }
    });
  }
}

}  // namespace

DataReader read_reader(const Json& json, const std::string& split, const Model& model, Diagnostics& errors) {
  DataReader reader;
  reader.where = json.where;
  Fields fields(json, "data: " + split, errors);
  const Json* op = fields.require("op", op_remedy(json));
  if (op == nullptr) return reader;
  reader.op = as_text(*op, fields.named("op"));
  const ReaderDef& def = find(*op, reader.op);
  read_settings(fields, def, model, reader);
  read_columns(fields, def, model, reader);
  fields.finish();
  return reader;
}

}  // namespace heddle::frontend
