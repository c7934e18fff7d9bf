#include "runtime/data/class_rule.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/diagnostic.h"
#include "runtime/data/table.h"

namespace heddle::runtime::data {

std::vector<std::string> ClassRule::classes(const FoundNames& found) const {
  std::vector<std::string> names;
  for (const auto& [name, of] : found)
    if (of.count >= min_count && name != other) names.push_back(name);
  if (!other.empty()) names.push_back(other);
  return names;
}

ClassRule class_rule(const std::vector<ReaderSetting>& settings) {
  ClassRule rule;
  const ReaderSetting* least = find_setting(settings, "min_count");
  const ReaderSetting* other = find_setting(settings, "other");
  const ReaderSetting* classes = find_setting(settings, "classes");
  if (least != nullptr) rule.min_count = std::get<int64_t>(least->value);
  if (least != nullptr && rule.min_count > 1 && other == nullptr)
    throw UserError(least->where, "'min_count' leaves rows without a class", "\"other\": \"other\" is the one of them");
  if (other == nullptr) return rule;
  rule.other = std::get<std::vector<std::string>>(other->value).at(0);
  if (rule.other.empty()) throw UserError(other->where, "'other' is empty", "name the class of rare names");
  if (classes == nullptr)
    throw UserError(other->where, "'other' is the class of rare names, and no input has names",
                    "\"classes\": {INPUT: \"sorted\"} numbers names");
  // A list without it takes no other names than its own.
  const auto& all = std::get<ClassNames>(classes->value);
  if (std::ranges::any_of(all, [&](const auto& of) { return of.second.empty() || std::ranges::count(of.second, rule.other) > 0; }))
    return rule;
  throw UserError(other->where,
                  fmt::format("'other' is none of the classes that are listed for input '{}'", all.begin()->first),
                  fmt::format("add \"{}\" to the list", rule.other));
}

std::vector<Key> class_keys(const std::string& of) {
  return {{.name = "classes",
           .type = KeyType::classes,
           .count = Count::by_name,
           .doc = fmt::format("for inputs whose {} name classes", of)},
          {.name = "min_count",
           .type = KeyType::integer,
           .doc = "a name that fewer training rows have is no class of its own",
           .fallback = int64_t{1},
           .range = ir::at_least(1)},
          {.name = "other",
           .type = KeyType::text,
           .doc = "the class of such names, and of those that no training row has"}};
}

}  // namespace heddle::runtime::data
