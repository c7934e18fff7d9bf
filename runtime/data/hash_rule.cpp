#include "runtime/data/hash_rule.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstdlib>

#include "runtime/data/check_column.h"
#include "runtime/data/parse_number.h"

namespace heddle::runtime::data {

int64_t hash_ids(const std::vector<ReaderSetting>& settings, const std::string& input) {
  const ReaderSetting* setting = find_setting(settings, "hash");
  if (setting == nullptr) return 0;
  const auto& all = std::get<ClassNames>(setting->value);
  const auto found = all.find(input);
  return found == all.end() ? 0
                            : std::strtoll(found->second.at(0).c_str(), nullptr, 10);  // the frontend wrote the number
}

int64_t hash_ids(const ReaderRequest& request, const ColumnRequest& column) {
  const int64_t ids = hash_ids(request.settings, column.input);
  if (ids == 0) return 0;
  const Location where = request.place("hash");
  const ElementType type = column.one_hot ? ElementType::i32 : filled_type(column);
  if (is_floating(type))
    throw UserError(where, fmt::format("input '{}' is {}: a hash is a whole number", column.input, column.dtype),
                    "an input of \"dtype\": \"i32\" takes it, for an embedding or one_hot");
  for (const char* other : {"classes", "text", "sound"})
    if (const ReaderSetting* setting = request.find(other))
      if (std::get<ClassNames>(setting->value).contains(column.input))
        throw UserError(where, fmt::format("input '{}' has a hash, and \"{}\", too", column.input, other),
                        "leave one of them out");
  std::byte last[sizeof(int64_t)];
  std::string fault = parse_number(std::to_string(ids - 1), type, last);
  if (fault.empty()) fault = range_fault(column, ids - 1);
  if (!fault.empty())
    throw UserError(where,
                    fmt::format("input '{}': {} numbers of a hash end at {}: {}", column.input, ids, ids - 1, fault),
                    "", column.bounded_by);
  return ids;
}

int64_t hashed(std::string_view text, int64_t ids) {
  return static_cast<int64_t>(XXH64(text.data(), text.size(), 0) % static_cast<uint64_t>(ids));
}

Key hash_key() {
  return {.name = "hash",
          .type = KeyType::integer,
          .count = Count::by_name,
          .doc = "for inputs whose values are texts: how many numbers a hash makes of them",
          .range = ir::at_least(1)};
}

}  // namespace heddle::runtime::data
