#include "ir/keys/key.h"

#include <algorithm>
#include <cmath>

namespace heddle::ir {

bool KeyRange::holds(long double value) const {
  const bool above_low = above ? value > low : value >= low, below_high = below ? value < high : value <= high;
  return above_low && below_high && (!f32 || std::isfinite(static_cast<float>(value)));
}

const Key* find_key(std::span<const Key> keys, std::string_view name) {
  const auto it = std::ranges::find(keys, name, &Key::name);
  return it == keys.end() ? nullptr : &*it;
}

std::vector<std::string> key_names(std::span<const Key> keys) {
  std::vector<std::string> names;
  names.reserve(keys.size());
  for (const Key& key : keys) names.push_back(key.name);
  return names;
}

bool holds(const Key& key, const Attr& value) {
  if (key.count != Count::one) return std::holds_alternative<std::vector<int64_t>>(value);
  switch (key.type) {
    case KeyType::flag: return std::holds_alternative<bool>(value);
    case KeyType::integer: return std::holds_alternative<int64_t>(value);
    case KeyType::real: return std::holds_alternative<double>(value);
    default: return std::holds_alternative<std::string>(value);
  }
}

std::string attribute_type(const Key& key) {
  if (key.count != Count::one) return "integers";
  switch (key.type) {
    case KeyType::flag: return "flag";
    case KeyType::integer: return "integer";
    case KeyType::real: return "real";
    default: return "text";
  }
}

}  // namespace heddle::ir
