#include "frontend/json/overrides.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "frontend/keys/fields.h"
#include "frontend/keys/model_keys.h"

namespace heddle::frontend {
namespace {

std::vector<std::string> split_path(const std::string& path) {
  std::vector<std::string> parts(1);
  for (const char c : path) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const Json& item : object.items) keys.push_back(item.key);
  return keys;
}

// Of the objects of a list.
std::vector<std::string> names_of(const Json& list) {
  std::vector<std::string> names;
  for (const Json& item : list.items)
    if (const Json* name = item.find("name"); name != nullptr && name->kind == Json::Kind::text)
      names.push_back(name->text);
  return names;
}

// An entry of a list by index, or by the "name" of the object there.
Json* entry(Json& list, const std::string& step) {
  size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  if (error == std::errc() && end == step.data() + step.size())
    return index < list.items.size() ? &list.items[index] : nullptr;
  for (Json& item : list.items) {
    const Json* name = item.find("name");
    if (name != nullptr && name->kind == Json::Kind::text && name->text == step) return &item;
  }
  return nullptr;
}

// Sizes are used by name in expressions: a new one could only be a typing error.
bool may_add(const std::vector<std::string>& steps) { return steps.front() != "let"; }

class Target {
 public:
  Target(const std::string& path, const Location& where) : path_(path), where_(where) {}

  void assign(Json& model, Json value) const {
    const std::vector<std::string> steps = split_path(path_);
    if (steps.front() == "small")
      fail("'small' is itself a list of overrides", "name the value it overrides: --set train.batch.N=8");
    Json* at = &model;
    for (size_t i = 0; i + 1 < steps.size(); ++i) at = &descend(*at, steps, i);
    if (steps.size() > 1 && at->kind == Json::Kind::text && at != &model) spell_out(*at);
    if (steps.size() == 3 && steps[0] == "train" && steps[1] == "batch" && at->kind == Json::Kind::integer)
      *at = object_in_place_of(*at);  // a number is the size of the batch dimension, which is given anew
    if (at->kind == Json::Kind::list) {
      replace(descend(*at, steps, steps.size() - 1), std::move(value));
    } else if (Json* member = at->find(steps.back())) {
      replace(*member, std::move(value));
    } else {
      add(*at, steps, std::move(value));
    }
  }

 private:
  [[noreturn]] void fail(const std::string& message, const std::string& help = {}) const {
    throw UserError(where_, fmt::format("override {}: {}", quote(path_), message), help);
  }

  // Into what the step number `i` of the path names.
  Json& descend(Json& at, const std::vector<std::string>& steps, size_t i) const {
    const std::string& step = steps[i];
    if (at.kind != Json::Kind::object && at.kind != Json::Kind::list)
      fail(fmt::format("{} has no {} in it", describe(at), quote(step)));
    Json* next = at.kind == Json::Kind::list ? entry(at, step) : at.find(step);
    if (next == nullptr) fail(fmt::format("there is no {}", quote(step)), remedy_of(at, steps, i));
    return *next;
  }

  static std::string remedy_of(const Json& at, const std::vector<std::string>& steps, size_t i) {
    const std::vector<std::string> names = i == 0                        ? ir::key_names(model_keys())
                                           : at.kind == Json::Kind::list ? names_of(at)
                                                                         : keys_of(at);
    const bool is_key = std::ranges::count(names, steps[i]) > 0;  // of a model, which this one lacks
    if (std::string near = is_key ? "" : did_you_mean(steps[i], names); !near.empty()) return near;
    if (at.kind == Json::Kind::list)
      return at.items.empty() ? "the list is empty"
                              : fmt::format("its entries are 0 to {}, or their names", at.items.size() - 1);
    if (i == 0 && !is_key) return {};
    return "what is not there is given as a whole: " + whole(steps, static_cast<std::ptrdiff_t>(i) + 1);
  }

  // The override that gives the first `present` steps as one value: --set 'train={"batch": ...}'.
  static std::string whole(const std::vector<std::string>& steps, std::ptrdiff_t present) {
    std::string value = "...";
    for (auto step = steps.rbegin(); step != steps.rend() - present; ++step)
      value = fmt::format("{{\"{}\": {}}}", *step, value);
    return fmt::format("--set '{}={}'", fmt::join(steps.begin(), steps.begin() + present, "."), value);
  }

  // A bare name stands for {"op": name}: now its settings can be added.
  static void spell_out(Json& name) {
    Json op = name;
    op.key = "op";
    op.key_where = name.where;
    name.kind = Json::Kind::object;
    name.text.clear();
    name.items = {std::move(op)};
  }

  static Json object_in_place_of(const Json& value) {
    Json object;
    object.kind = Json::Kind::object;
    object.where = value.where;
    object.key = value.key;
    object.key_where = value.key_where;
    return object;
  }

  static void replace(Json& old, Json value) {
    value.key = old.key;
    value.key_where = old.key_where;
    old = std::move(value);
  }

  void add(Json& object, const std::vector<std::string>& steps, Json value) const {
    if (object.kind != Json::Kind::object)
      fail(fmt::format("{} has no {} in it", describe(object), quote(steps.back())));
    if (!may_add(steps))
      fail(fmt::format("there is no {}", quote(steps.back())), did_you_mean(steps.back(), keys_of(object)));
    value.key = steps.back();
    value.key_where = where_;
    object.items.push_back(std::move(value));
  }

  const std::string& path_;
  Location where_;
};

// Places within the value's own text become places in the text of the whole override.
void relocate(Json& json, const SourceFile& whole, uint32_t offset) {
  const auto moved = [&](const Location& where) { return Location{&whole, where.begin + offset, where.end + offset}; };
  json.where = moved(json.where);
  if (!json.key.empty()) json.key_where = moved(json.key_where);
  for (Json& item : json.items) relocate(item, whole, offset);
}

// The value as JSON, or as a plain string: --set train.optimizer=sgd needs no quotes.
Json parse_value(const SourceFile& whole, size_t begin) {
  const SourceFile value{whole.name, whole.text.substr(begin)};
  Json json;
  try {
    json = parse_json(value);
  } catch (const UserError&) {
    json = {};
    json.kind = Json::Kind::text;
    json.text = value.text;
    json.where = {&value, 0, static_cast<uint32_t>(value.text.size())};
  }
  relocate(json, whole, static_cast<uint32_t>(begin));
  return json;
}

void apply_set(Json& model, const std::string& text, Sources& sources) {
  const SourceFile& source = sources.add("--set", text);
  const auto size = static_cast<uint32_t>(source.text.size());
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw UserError(Location{&source, 0, size}, fmt::format("expected path=value, found {}", quote(text)),
                    "for example --set train.batch.N=32");
  }
  const auto middle = static_cast<uint32_t>(equals);
  Json value = parse_value(source, equals + 1);
  Target(text.substr(0, equals), {&source, 0, middle}).assign(model, std::move(value));
}

// 1e3 as it is typed for 1000: a model's text keeps the two apart.
void make_whole(Json& json) {
  constexpr double kMostExact = 9007199254740992;  // 2^53
  if (json.kind != Json::Kind::real || std::trunc(json.real) != json.real || std::abs(json.real) > kMostExact) return;
  json.kind = Json::Kind::integer;
  json.integer = static_cast<int64_t>(json.real);
}

void apply_short(Json& model, const ShortForm& form, Sources& sources) {
  const SourceFile& source = sources.add(form.option, form.value);
  const Location where{&source, 0, static_cast<uint32_t>(source.text.size())};
  Json value = parse_value(source, 0);
  if (!form.path.ends_with(".lr")) make_whole(value);
  Target(form.path, where).assign(model, std::move(value));
}

}  // namespace

namespace {

// A copy of what `small` assigns: assigning may move the model's members. Throws UserError where it is no object.
Json small_of(const Json& model) {
  const Json* found = model.find("small");
  if (found == nullptr || found->kind == Json::Kind::null) return {};
  return as_object(*found, "'small'");
}

void assign_all(Json& model, const Json& overrides, Diagnostics& errors) {
  for (const Json& item : overrides.items)
    guarded(errors, [&] { Target(item.key, item.key_where).assign(model, item); });
}

}  // namespace

void apply_overrides(Json& model, const ReadOptions& options, Sources& sources, Diagnostics& errors) {
  if (model.kind != Json::Kind::object) return;
  if (options.small) guarded(errors, [&] { assign_all(model, small_of(model), errors); });
  for (const std::string& text : options.set) guarded(errors, [&] { apply_set(model, text, sources); });
  for (const ShortForm& form : options.short_forms) guarded(errors, [&] { apply_short(model, form, sources); });
}

void check_small(const Json& model, Diagnostics& errors) {
  Json scratch = model;
  guarded(errors, [&] { assign_all(scratch, small_of(model), errors); });
}

}  // namespace heddle::frontend
