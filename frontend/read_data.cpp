// The section `data`: readers, the validation split, maps.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/fields.h"
#include "frontend/layer_def.h"
#include "frontend/read_parts.h"
#include "frontend/read_reader.h"
#include "frontend/settings.h"

namespace heddle::frontend {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

void check_fraction(double fraction, const Location& where) {
  if (!(fraction > 0 && fraction < 1)) {
    throw UserError(where, fmt::format("data: validation: 'fraction' must be above 0 and below 1, is {}", fraction));
  }
}

void read_validation(const Json& json, const Model& model, Data& data, Diagnostics& errors) {
  if (json.find("fraction") == nullptr) {
    if (json.kind == Json::Kind::object && json.find("op") == nullptr)
      throw UserError(json.where, "data: validation has neither 'fraction' nor 'op'",
                      "write {\"fraction\": 0.1} for the last tenth of the training rows, or a reader");
    data.validation = read_reader(json, "validation", model, errors);
    return;
  }
  Fields fields(json, "data: validation", errors);
  data.validation_fraction = fields.real("fraction", model.let).value_or(0.5);
  data.fraction_where = fields.take("fraction")->where;
  fields.guard([&] { check_fraction(data.validation_fraction, data.fraction_where); });
  fields.finish();
}

std::vector<double> read_reals(const Json& json, const std::string& what, const Scope& scope) {
  std::vector<double> out;
  if (json.kind != Json::Kind::list) return {evaluate_real(json, scope, what)};
  for (const Json& item : json.items) out.push_back(evaluate_real(item, scope, what));
  if (out.empty()) throw UserError(json.where, what + " is empty");
  return out;
}

int64_t read_whole(const Json& json, const ir::MapKey& key, const std::string& what, const Scope& scope) {
  const int64_t n = evaluate_integer(json, scope, what);
  if (static_cast<double>(n) < key.low)
    throw UserError(json.where, fmt::format("{} must be at least {}, is {}", what, key.low, n));
  if (static_cast<double>(n) > key.high)
    throw UserError(json.where, fmt::format("{} must be at most {:.0f}, is {}", what, key.high, n));
  return n;
}

// One number, [height, width], or of borders [top, bottom, left, right].
std::vector<double> read_sides(const Json& json, const ir::MapKey& key, const std::string& what, const Scope& scope) {
  const bool borders = key.type == ir::MapKeyType::borders;
  std::vector<double> n;
  if (json.kind != Json::Kind::list) {
    n.assign(2, static_cast<double>(read_whole(json, key, what, scope)));
  } else {
    for (const Json& item : json.items) n.push_back(static_cast<double>(read_whole(item, key, what, scope)));
  }
  if (n.size() != 2 && !(borders && n.size() == 4))
    throw UserError(json.where, fmt::format("{}: expected one number or [height, width]{}", what,
                                            borders ? " or [top, bottom, left, right]" : ""));
  if (borders && n.size() == 2) return {n[0], n[0], n[1], n[1]};
  return n;
}

double read_real(const Json& json, const ir::MapKey& key, const std::string& what, const ir::DataMap& map,
                 const Scope& scope) {
  const double value = evaluate_real(json, scope, what);
  if (key.low < key.high && !(value >= key.low && value <= key.high))
    throw UserError(map.where, fmt::format("{}: '{}' must lie in [{}, {}], is {}", map.def->name, key.name, key.low,
                                           key.high, value));
  return value;
}

void read_key(const ir::MapKey& key, const Json& json, const std::string& what, const Scope& scope, ir::DataMap& map) {
  using ir::MapKeyType;
  map.places[key.name] = json.where;
  switch (key.type) {
    case MapKeyType::dtype: map.dtype = read_dtype(json, what); return;
    case MapKeyType::reals: map.numbers[key.name] = read_reals(json, what, scope); return;
    case MapKeyType::real: map.numbers[key.name] = {read_real(json, key, what, map, scope)}; return;
    case MapKeyType::integer: map.numbers[key.name] = {static_cast<double>(read_whole(json, key, what, scope))}; return;
    case MapKeyType::sides:
    case MapKeyType::borders: map.numbers[key.name] = read_sides(json, key, what, scope); return;
  }
}

// Of what changes a row, most is written as nodes.
std::string suggest_map(const std::string& word) {
  if (find_layer(word) == nullptr) return suggest(word, ir::map_names());
  return fmt::format("a node that reads the input does that: {{\"op\": \"{}\"}}", word);
}

std::optional<ir::DataMap> read_map(const Json& json, const Model& model, Diagnostics& errors) {
  if (json.kind == Json::Kind::text) {  // the bare name of one whose keys all have defaults
    Json whole = json;
    whole.kind = Json::Kind::object, whole.items = {json};
    whole.items[0].key = "op", whole.items[0].key_where = json.where;
    return read_map(whole, model, errors);
  }
  const Json* op = Fields(json, "data map", errors).require("op", op_remedy(json));
  if (op == nullptr) return std::nullopt;
  const std::string name = as_text(*op, "data map: 'op'");
  if (ir::find_map(name) == nullptr)
    throw UserError(op->where, fmt::format("there is no data map {}", quote(name)), suggest_map(name));
  Diagnostics own;
  Fields fields(json, "data map " + name, own);
  fields.take("op");
  ir::DataMap map = ir::data_map(name);
  map.where = json.where;
  for (const ir::MapKey& key : map.def->keys) {
    const Json* value = key.required ? fields.require(key.name) : fields.take(key.name);
    if (value != nullptr) fields.guard([&] { read_key(key, *value, fields.named(key.name), model.let, map); });
  }
  fields.finish();
  if (!own.empty()) {  // what a misspelt key leaves out is not missed besides
    guarded(errors, [&] { own.throw_if_any(); });
    return std::nullopt;
  }
  if (map.def->require) map.def->require(map);
  return map;
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
        guarded(errors, [&] {
          if (auto read = read_map(map, model, errors)) data.maps[item.key].push_back(std::move(*read));
        });
      }
    });
  }
}

}  // namespace

Data read_data(const Json& json, const Model& model, Diagnostics& errors) {
  Data data;
  data.where = json.where;
  Fields fields(json, "data", errors);
  if (json.kind != Json::Kind::object) return data;
  if (const Json* train = fields.take("train")) {
    fields.guard([&] { data.train = read_reader(*train, "train", model, errors); });
  }
  if (const Json* test = fields.take("test")) {
    fields.guard([&] { data.test = read_reader(*test, "test", model, errors); });
  }
  if (const Json* validation = fields.take("validation")) {
    fields.guard([&] { read_validation(*validation, model, data, errors); });
  }
  if (const Json* maps = fields.take("map")) fields.guard([&] { read_maps(*maps, model, data, errors); });
  fields.finish();
  return data;
}

}  // namespace heddle::frontend
