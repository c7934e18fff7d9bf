// The section `data`: readers, the validation split, maps.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/fields.h"
#include "frontend/read_parts.h"
#include "frontend/read_reader.h"
#include "frontend/settings.h"

namespace heddle::frontend {
namespace {

const std::vector<std::string> kMaps = {"scale", "shift", "normalize", "cast", "one_hot", "flip", "crop", "cutout"};

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
    data.validation = read_reader(json, "validation", model, errors);
    return;
  }
  Fields fields(json, "data: validation", errors);
  data.validation_fraction = fields.real("fraction", model.let).value_or(0.5);
  data.fraction_where = fields.take("fraction")->where;
  fields.guard([&] { check_fraction(data.validation_fraction, data.fraction_where); });
  fields.finish();
}

std::vector<double> read_reals(const Json* json, const std::string& what, const Scope& scope) {
  if (json == nullptr) return {};
  std::vector<double> out;
  if (json->kind != Json::Kind::list) return {evaluate_real(*json, scope, what)};
  for (const Json& item : json->items) out.push_back(evaluate_real(item, scope, what));
  if (out.empty()) throw UserError(json->where, what + " is empty");
  return out;
}

// x * scale + shift with scale = 1 / std, shift = -mean / std.
void read_normalize(Fields& fields, const Model& model, DataMap& map) {
  const Json* mean = fields.require("mean");
  const Json* deviation = fields.require("std");
  if (mean == nullptr || deviation == nullptr) return;
  const std::vector<double> means = read_reals(mean, fields.named("mean"), model.let);
  const std::vector<double> deviations = read_reals(deviation, fields.named("std"), model.let);
  if (means.size() != deviations.size()) {
    throw UserError(deviation->where,
                    fmt::format("normalize: {} means but {} standard deviations", means.size(), deviations.size()));
  }
  for (size_t i = 0; i < means.size(); ++i) {
    if (deviations[i] == 0) throw UserError(deviation->where, "normalize: a standard deviation is 0");
    map.scale.push_back(1 / deviations[i]);
    map.shift.push_back(-means[i] / deviations[i]);
  }
}

// One number, or [height, width].
void read_sides(const Json& json, const std::string& what, const Scope& scope, DataMap& map) {
  const auto side = [&](const Json& value) {
    const int64_t n = evaluate_integer(value, scope, what);
    if (n < 1) throw UserError(value.where, fmt::format("{} must be at least 1, is {}", what, n));
    return n;
  };
  if (json.kind != Json::Kind::list) {
    map.height = map.width = side(json);
    return;
  }
  if (json.items.size() != 2)
    throw UserError(json.where, fmt::format("{}: expected one number or [height, width]", what));
  map.height = side(json.items[0]), map.width = side(json.items[1]);
}

// What training does to pictures at random.
void read_picture_map(Fields& fields, const Model& model, DataMap& map) {
  if (map.op == "flip") {
    map.probability = fields.real("probability", model.let).value_or(0.5);
    if (!(map.probability >= 0 && map.probability <= 1))
      throw UserError(map.where, fmt::format("flip: 'probability' must lie in [0, 1], is {}", map.probability));
    return;
  }
  const char* key = map.op == "crop" ? "pad" : "size";
  if (const Json* sides = fields.require(key)) read_sides(*sides, fields.named(key), model.let, map);
  map.fill = fields.real("fill", model.let).value_or(0);
}

DataMap read_map(const Json& json, const Model& model, Diagnostics& errors) {
  DataMap map;
  map.where = json.where;
  Fields fields(json, "data map", errors);
  const Json* op = fields.require("op");
  if (op == nullptr) return map;
  map.op = as_text(*op, fields.named("op"));
  if (!contains(kMaps, map.op))
    throw UserError(op->where, fmt::format("there is no data map {}", quote(map.op)), suggest(map.op, kMaps));
  if (map.op == "normalize") {
    read_normalize(fields, model, map);
  } else if (map.op == "cast") {
    if (const Json* dtype = fields.require("dtype")) map.dtype = read_dtype(*dtype, fields.named("dtype"));
  } else if (map.op == "flip" || map.op == "crop" || map.op == "cutout") {
    read_picture_map(fields, model, map);
  } else if (map.op == "one_hot") {
    constexpr int64_t kMostClasses = int64_t{1} << 24;
    if (fields.require("depth") != nullptr) map.depth = fields.integer("depth", model.let, 1, kMostClasses).value_or(1);
  } else if (const Json* by = fields.require("by")) {
    (map.op == "scale" ? map.scale : map.shift) = read_reals(by, fields.named("by"), model.let);
  }
  fields.finish();
  return map;
}

void read_maps(const Json& json, const Model& model, Data& data, Diagnostics& errors) {
  for (const Json& item : as_object(json, "data: 'map'").items) {
    guarded(errors, [&] {
      std::vector<std::string> inputs;
      for (const InputDef& input : model.inputs) inputs.push_back(input.name);
      if (!contains(inputs, item.key)) {
        throw UserError(item.key_where, fmt::format("data: map: there is no input {}", quote(item.key)),
                        suggest(item.key, inputs));
      }
      for (const Json& map : as_list(item, fmt::format("data: map: '{}'", item.key)).items) {
        guarded(errors, [&] { data.maps[item.key].push_back(read_map(map, model, errors)); });
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
