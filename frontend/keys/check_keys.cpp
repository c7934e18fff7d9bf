#include "frontend/keys/check_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "frontend/read/foreign_names.h"

namespace heddle::frontend {
namespace {

// The required keys that are absent.
std::vector<Needed> missing_keys(const Members& given, const KeyLists& keys) {
  std::vector<Needed> missing;
  for (const std::span<const Key> list : {keys.common, keys.own})
    for (const Key& key : list)
      if (key.required && std::ranges::find(given.values, key.name, &Json::key) == given.values.end())
        missing.push_back({key.name, key.doc});
  return missing;
}

std::vector<std::string> known_names(const KeyLists& keys) {
  std::vector<std::string> known;
  for (const std::span<const Key> list : {keys.common, keys.own})
    for (const Key& key : list)
      if (key.type != KeyType::planned) known.push_back(key.name);
  return known;
}

// The keys that an unknown `word` may stand for: those that are absent. All keys, if the word is the beginning of the
// nearest one ("unit" beside "units"), or no absent key is similar.
std::vector<std::string> meant_names(const std::string& word, const Members& given, const KeyLists& keys) {
  std::vector<std::string> known = known_names(keys), absent;
  if (nearest(word, known).starts_with(word)) return known;
  std::ranges::copy_if(known, std::back_inserter(absent), [&](const std::string& name) {
    return std::ranges::find(given.values, name, &Json::key) == given.values.end();
  });
  return nearest(word, absent).empty() ? known : absent;
}

// A suggestion for the unknown `word`. If it is a required key, removes that from `missing`.
std::string suggest_key(const std::string& word, const std::vector<std::string>& known, std::vector<Needed>& missing) {
  if (std::string hint = suggest_needed(word, missing); !hint.empty()) return hint;
  const bool looks_like_none = foreign_hint(word, known).empty() && nearest(word, known).empty();
  if (missing.size() != 1 || !looks_like_none) return suggest(word, known);
  const Needed only = std::exchange(missing, {}).front();
  return fmt::format("did you mean '{}'? It is needed: {}", only.name, only.remedy);
}

}  // namespace

const Key* KeyLists::find(std::string_view name) const {
  const Key* key = find_key(own, name);
  return key != nullptr ? key : find_key(common, name);
}

void guarded(Diagnostics& errors, const std::function<void()>& f) {
  try {
    f();
  } catch (const UserError& error) {
    errors.add(error);
  }
}

std::set<std::string, std::less<>> check_keys(const Members& given, const KeyLists& keys, const ObjectTitle& object,
                                              Diagnostics& errors) {
  std::set<std::string, std::less<>> faulty;
  std::vector<Needed> missing = missing_keys(given, keys);
  const auto is_known = [&](const Json& value) {
    if (keys.find(value.key) != nullptr) return true;
    const bool input = std::ranges::find(object.inputs, value.key) != object.inputs.end();
    errors.error(value.key_where, fmt::format("{} has no {} {}", object.title, object.noun, quote(value.key)),
                 input ? fmt::format("it is an input: \"in\": {{\"{}\": ...}}", value.key)
                       : suggest_key(value.key, meant_names(value.key, given, keys), missing));
    return false;
  };
  const auto check = [&](const Json& value) {
    guarded(errors, [&] {
      faulty.insert(value.key);
      check_value(value, *keys.find(value.key), fmt::format("{}: '{}'", object.title, value.key));
      faulty.erase(value.key);
    });
  };
  for (const Json& value : given.values)
    if (is_known(value)) check(value);
  for (const Json& value : given.nulls)
    if (is_known(value) && keys.find(value.key)->type == KeyType::planned) check(value);
  for (const Needed& m : missing)
    errors.error(object.where, fmt::format("{} needs '{}': {}", object.title, m.name, m.remedy),
                 keys.find(m.name)->hint);
  return faulty;
}

}  // namespace heddle::frontend
