#include "frontend/read/read_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "frontend/keys/fields.h"
#include "frontend/keys/settings.h"

namespace heddle::frontend {
namespace {

using ir::Count;
using runtime::data::ClassNames;
using runtime::data::ReaderDef;
using runtime::data::ReaderValue;

const ReaderDef& find(const Json& op, const std::string& name) {
  if (const ReaderDef* def = runtime::data::find_reader(name)) return *def;
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

// A class has one number.
void require_distinct(const Json& list, const std::string& what) {
  std::set<std::string_view> seen;
  for (const Json& item : list.items)
    if (!seen.insert(item.text).second)
      throw UserError(item.where, fmt::format("{}: the class {} is named twice", what, quote(item.text)),
                      "a class has one number: its place in the list");
}

// {"species": ["setosa", "virginica"], "colour": "sorted"}
ClassNames class_names(const Json& value, const std::string& what, const Model& model) {
  ClassNames names;
  for (const Json& item : as_object(value, what).items) {
    if (std::ranges::find(model.inputs, item.key, &InputDef::name) == model.inputs.end())
      throw UserError(item.key_where, fmt::format("{}: there is no input {}", what, quote(item.key)));
    if (item.kind == Json::Kind::list) {
      names[item.key] = texts(item, what);
      require_distinct(item, what);
    } else if (as_text(item, what) == "sorted") {
      names[item.key] = {};
    } else {
      throw UserError(item.where,
                      fmt::format("{}: expected a list of names or \"sorted\", found {}", what, describe(item)));
    }
  }
  return names;
}

// {"name": "characters", "size": "length"}
ClassNames words_by_input(const Json& value, const Key& key, const std::string& what, const Model& model) {
  ClassNames words;
  for (const Json& item : as_object(value, what).items) {
    if (std::ranges::find(model.inputs, item.key, &InputDef::name) == model.inputs.end())
      throw UserError(item.key_where, fmt::format("{}: there is no input {}", what, quote(item.key)));
    words[item.key] = {as_text(item, what)};
    require_word(item, key.words, what);
  }
  return words;
}

// {"user": 1000}
ClassNames numbers_by_input(const Json& value, const Key& key, const std::string& what, const Model& model) {
  ClassNames numbers;
  for (const Json& item : as_object(value, what).items) {
    if (std::ranges::find(model.inputs, item.key, &InputDef::name) == model.inputs.end())
      throw UserError(item.key_where, fmt::format("{}: there is no input {}", what, quote(item.key)));
    numbers[item.key] = {std::to_string(read_integer(item, key, model.let, what))};
  }
  return numbers;
}

// {"when": ["days", "time_of_day"]}: the keys are columns of the file.
ClassNames words_by_column(const Json& value, const Key& key, const std::string& what) {
  ClassNames words;
  for (const Json& item : as_object(value, what).items) {
    std::vector<std::string>& of = words[item.key];
    for (const Json& word : as_list(item, what).items) {
      of.push_back(as_text(word, what));
      require_word(word, key.words, what);
      if (std::ranges::count(of, of.back()) > 1)
        throw UserError(word.where, fmt::format("{}: {} is given twice", what, quote(of.back())), "once is enough");
    }
    if (of.empty()) throw UserError(item.where, fmt::format("{}: {} is empty", what, quote(item.key)));
  }
  return words;
}

// 0.5, "mean" or [0.5, "indicator"]: a number alone is one, and all else are words.
ReaderValue number_or_words(const Json& value, const Key& key, const std::string& what, const Model& model) {
  const auto is_word = [&](const Json& item) {
    return item.kind == Json::Kind::text && std::ranges::count(key.words, item.text) > 0;
  };
  const auto number = [&](const Json& item) {
    if (item.kind == Json::Kind::text && is_name(item.text) && !model.let.find(item.text))
      throw UserError(
          item.where,
          fmt::format("{}: {} is neither a number nor one of {}", what, quote(item.text), fmt::join(key.words, ", ")),
          suggest(item.text, key.words));
    return read_real(item, key, model.let, what);
  };
  if (value.kind != Json::Kind::list && !is_word(value)) return number(value);
  if (value.kind == Json::Kind::list && value.items.empty()) throw UserError(value.where, what + " is empty");
  std::vector<std::string> words;
  if (value.kind != Json::Kind::list) words.push_back(value.text);
  for (const Json& item : value.items) {
    words.push_back(is_word(item) ? item.text : fmt::format("{}", number(item)));
    if (std::ranges::count(words, words.back()) > 1)
      throw UserError(item.where, fmt::format("{}: {} is given twice", what, words.back()), "once is enough");
  }
  return words;
}

void check_paths(const Json& value, const std::vector<std::string>& paths) {
  const bool list = value.kind == Json::Kind::list;
  for (size_t i = 0; i < paths.size(); ++i) check_path({paths[i], list ? value.items[i].where : value.where});
}

ReaderValue read_value(const Key& key, const Json& value, const std::string& what, const Model& model) {
  switch (key.type) {
    case KeyType::flag: return value.flag;
    case KeyType::integer:
      if (key.count == Count::by_name) return numbers_by_input(value, key, what, model);
      return read_integer(value, key, model.let, what);
    case KeyType::real:
      if (!key.words.empty()) return number_or_words(value, key, what, model);
      if (key.count != Count::one) return read_reals(value, key, model.let, what);
      return read_real(value, key, model.let, what);
    case KeyType::classes: return class_names(value, what, model);
    default: {
      if (key.count == Count::by_name) return words_by_input(value, key, what, model);
      if (key.count == Count::lists_by_name) return words_by_column(value, key, what);
      std::vector<std::string> out = texts(value, what);
      if (key.type == KeyType::path) check_paths(value, out);
      if (key.type == KeyType::text && key.count == Count::several) require_distinct(value, what);
      return out;
    }
  }
}

// A column's name, or its index.
Named read_word(const Json& value) {
  return {value.kind == Json::Kind::integer ? std::to_string(value.integer) : value.text, value.where};
}

std::vector<Named> read_column(const Key& key, const Json& value, const std::string& what) {
  std::vector<Named> words;
  if (value.kind == Json::Kind::list) {
    for (const Json& item : value.items) words.push_back(read_word(item));
    if (words.empty()) throw UserError(value.where, what + " is empty");
  } else {
    words.push_back(read_word(value));
  }
  if (key.type == KeyType::path) check_path(words[0]);
  return words;
}

// The reader's own keys, and one for each input.
std::vector<Key> keys_with_inputs(const ReaderDef& def, const Model& model, const Location& where) {
  std::vector<Key> keys = {{.name = "op", .type = KeyType::text, .doc = "which reader it is", .required = true}};
  keys.insert(keys.end(), def.keys.begin(), def.keys.end());
  for (const InputDef& input : model.inputs) {
    if (find_key(def.keys, input.name) != nullptr)
      throw UserError(where, fmt::format("the input '{}' has the name of a key of {}", input.name, def.name),
                      "give the input another name");
    Key& column = keys.emplace_back(def.column);
    column.name = input.name;
    column.doc = "the reader feeds every input of the model";
    column.required = true;
  }
  return keys;
}

}  // namespace

DataReader read_reader(const Json& json, const std::string& split, const Model& model, Diagnostics& errors) {
  DataReader reader;
  reader.where = json.where;
  const std::string title = "data: " + split;
  const Json& op = read_op(json, title);
  reader.op = op.text;
  const ReaderDef& def = find(op, reader.op);
  const std::vector<Key> keys = keys_with_inputs(def, model, reader.where);
  const Fields fields(json, keys, title, model.let, errors);
  for (const Key& key : def.keys)
    fields.read(key.name, [&](const Json& value) {
      reader.settings.push_back({key.name, read_value(key, value, fields.named(key.name), model), value.where});
    });
  for (const InputDef& input : model.inputs)
    fields.read(input.name, [&](const Json& value) {
      reader.columns[input.name] = read_column(def.column, value, fields.named(input.name));
    });
  return reader;
}

}  // namespace heddle::frontend
