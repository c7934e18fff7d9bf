// The section `data`: readers, the validation split, maps.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/keys/fields.h"
#include "frontend/keys/model_keys.h"
#include "frontend/keys/settings.h"
#include "frontend/layer_def.h"
#include "frontend/read/read_parts.h"
#include "frontend/read/read_reader.h"
#include "frontend/row_drawing.h"
#include "ir/keys/key_text.h"

namespace heddle::frontend {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// A name, or the index of a column.
Named read_word(const Json& json) {
  return {json.kind == Json::Kind::integer ? std::to_string(json.integer) : json.text, json.where};
}

// Seed 0 stays 0: that rows are drawn at all is the model's to say.
std::optional<ValidationDraw> read_draw(const Fields& fields, Diagnostics& errors) {
  ValidationDraw draw;
  fields.read("by", [&](const Json& by) { draw.by = read_word(by); });
  fields.read("group", [&](const Json& group) { draw.group = read_word(group); });
  for (const Named* word : {&draw.by, &draw.group})
    if (word->where.valid() && word->text.empty())
      errors.error(word->where, fmt::format("data: validation: '{}' is empty", word == &draw.by ? "by" : "group"),
                   "it is the name of an input, or of a column or key of the file");
  if (fields.find("draw") != nullptr) {
    fields.read("draw", draw.seed);
    return draw;
  }
  for (const Named* word : {&draw.by, &draw.group})
    if (!word->text.empty())
      errors.error(word->where, fmt::format("data: validation: '{}' needs 'draw'", word == &draw.by ? "by" : "group"),
                   "add the seed of the drawing: \"draw\": 1");
  return std::nullopt;
}

void read_validation(const Json& json, const Model& model, Data& data, Diagnostics& errors) {
  if (json.find("fraction") == nullptr) {
    if (json.find("op") == nullptr)
      throw UserError(json.where, "data: validation has neither 'fraction' nor 'op'",
                      "write {\"fraction\": 0.1} for the last tenth of the training rows, or a reader");
    data.validation = read_reader(json, "validation", model, errors);
    return;
  }
  const Fields fields(json, fraction_keys(), "data: validation", model.let, errors);
  data.fraction_where = json.find("fraction")->where;
  fields.read("fraction", data.validation_fraction);
  data.draw = read_draw(fields, errors);
}

// One number, [height, width], or of borders [top, bottom, left, right].
std::vector<double> read_sides(const Json& json, const Key& key, const std::string& what, const Scope& scope) {
  const std::vector<int64_t> given = read_integers(json, key, scope, what);
  std::vector<double> n(given.begin(), given.end());
  if (json.kind != Json::Kind::list) n.resize(2, n[0]);
  const bool borders = key.type == KeyType::borders;
  if (n.size() != 2 && !(borders && n.size() == 4))
    throw UserError(json.where, fmt::format("{}: expected {}", what, ir::expected_text(key)));
  if (borders && n.size() == 2) return {n[0], n[0], n[1], n[1]};
  return n;
}

std::vector<double> read_numbers(const Json& json, const Key& key, const std::string& what, const Scope& scope) {
  std::vector<double> numbers = read_reals(json, key, scope, what);
  if (numbers.empty()) throw UserError(json.where, what + " is empty");
  return numbers;
}

void read_key(const Key& key, const Json& json, const std::string& what, const Scope& scope, ir::DataMap& map) {
  map.places[key.name] = json.where;
  switch (key.type) {
    case KeyType::dtype: map.dtype = read_dtype(json, what); return;
    case KeyType::sides:
    case KeyType::borders: map.numbers[key.name] = read_sides(json, key, what, scope); return;
    case KeyType::text:
      map.words[key.name] = as_text(json, what);
      if (!key.words.empty())  // a choice is known by its place
        map.numbers[key.name] = {static_cast<double>(std::ranges::find(key.words, json.text) - key.words.begin())};
      return;
    case KeyType::word:
      if (json.kind == Json::Kind::text) {
        map.words[key.name] = json.text;
        return;
      }
      [[fallthrough]];
    case KeyType::integer: {
      const std::vector<int64_t> given = read_integers(json, key, scope, what);
      if (given.empty()) throw UserError(json.where, what + " is empty", "leave it out");
      map.numbers[key.name] = {given.begin(), given.end()};
      return;
    }
    default: map.numbers[key.name] = read_numbers(json, key, what, scope); return;
  }
}

// Of what changes a row, most is written as nodes.
std::string suggest_map(const std::string& word) {
  if (find_layer(word) == nullptr) return suggest(word, ir::map_names());
  return fmt::format("a node that reads the input does that: {{\"op\": \"{}\"}}", word);
}

ir::DataMap read_map(const Json& json, const Model& model) {
  if (json.kind == Json::Kind::text) {  // the bare name of one whose keys all have defaults
    Json whole = json;
    whole.kind = Json::Kind::object, whole.items = {json};
    whole.items[0].key = "op", whole.items[0].key_where = json.where;
    return read_map(whole, model);
  }
  const Json& op = read_op(json, "data map");
  const std::string name = op.text;
  if (ir::find_map(name) == nullptr)
    throw UserError(op.where, fmt::format("there is no data map {}", quote(name)), suggest_map(name));
  ir::DataMap map = ir::data_map(name);
  map.where = json.where;
  std::vector<Key> keys = {{.name = "op", .type = KeyType::text, .doc = "which map it is", .required = true}};
  keys.insert(keys.end(), map.def->keys.begin(), map.def->keys.end());
  Diagnostics faults;
  const Fields fields(json, keys, "data map " + name, model.let, faults);
  for (const Key& key : map.def->keys)
    fields.read(key.name, [&](const Json& value) { read_key(key, value, fields.named(key.name), model.let, map); });
  faults.throw_if_any();
  if (map.def->require) map.def->require(map);
  return map;
}

// A map that makes two inputs of the same elements stands at the first; the second gets one of its own.
void pair_inputs(Data& data, const Model& model, Diagnostics& errors) {
  std::vector<std::pair<std::string, ir::DataMap>> second;
  for (auto& [input, list] : data.maps)
    for (ir::DataMap& map : list) {
      const std::string& key = map.def->pairs;
      if (key.empty()) continue;
      const std::string& other = map.words[key];
      const auto is = [&](const InputDef& i) { return i.name == other; };
      const std::string what = fmt::format("{} of input '{}'", map.def->name, input);
      if (std::ranges::none_of(model.inputs, is) || other == input)
        errors.error(map.places[key],
                     fmt::format("{}: {}", what,
                                 other == input ? fmt::format("'{}' is the input itself", key)
                                                : "there is no input " + quote(other)),
                     "name a second input, which the readers make of the same text");
      else if (list.size() > 1)
        errors.error(map.where, what + " is the only map of its input", "leave the others out");
      else if (data.maps.contains(other) || std::ranges::count(second, other, &decltype(second)::value_type::first) > 0)
        errors.error(map.places[key],
                     fmt::format("{}: input '{}' has maps of its own, and is made by this one", what, other),
                     "leave them out");
      map.numbers[key] = {0};
      second.emplace_back(other, map).second.numbers[key] = {1};
      if (list.size() > 1) break;  // said once
    }
  for (auto& [input, map] : second) data.maps[input].push_back(std::move(map));
}

void read_maps(const Json& json, const Model& model, Data& data, Diagnostics& errors) {
  for (const Json& item : as_object(json, "data: 'map'").items) {
    guarded(errors, [&] {
      std::vector<std::string> inputs;
      for (const InputDef& input : model.inputs) inputs.push_back(input.name);
      if (!contains(inputs, item.key)) {
        throw UserError(item.key_where, fmt::format("data: map: there is no input {}", quote(item.key)),
                        suggest_defined(item.key, inputs));
      }
      for (const Json& map : as_list(item, fmt::format("data: map: '{}'", item.key)).items) {
        guarded(errors, [&] { data.maps[item.key].push_back(read_map(map, model)); });
      }
    });
  }
  pair_inputs(data, model, errors);
}

}  // namespace

Data read_data(const Json& json, const Model& model, Diagnostics& errors) {
  Data data;
  data.where = json.where;
  const Fields fields(json, data_keys(), "data", model.let, errors);
  fields.read("train", [&](const Json& train) { data.train = read_reader(train, "train", model, errors); });
  fields.read("test", [&](const Json& test) { data.test = read_reader(test, "test", model, errors); });
  fields.read("validation", [&](const Json& split) { read_validation(split, model, data, errors); });
  fields.object("draw", [&](const Fields& draw) { read_drawing(draw, data, errors); });
  fields.object("buckets", [&](const Fields& buckets) { data.buckets = read_buckets(buckets, model, errors); });
  fields.read("map", [&](const Json& maps) { read_maps(maps, model, data, errors); });
  return data;
}

}  // namespace heddle::frontend
