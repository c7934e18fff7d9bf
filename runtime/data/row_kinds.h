// RowKinds: the class or group of each row of a table, for draws.
#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace heddle::runtime::data {

// The kind of each row. Kinds are numbered from 0 in the order in which they first appear.
struct RowKinds {
  std::vector<uint32_t> of_row;  // empty: kinds are not used, and all rows have one kind
  uint32_t count = 0;

  bool empty() const { return of_row.empty(); }
  uint32_t of(size_t row) const { return empty() ? 0 : of_row[row]; }
  size_t parts() const { return empty() ? 1 : count; }
  // Checks that each of `rows` rows has a kind, where kinds are used.
  void check(int64_t rows) const;
};

template <class T>
RowKinds numbered(const std::vector<T>& values) {
  std::unordered_map<T, uint32_t> numbers;
  RowKinds kinds;
  kinds.of_row.reserve(values.size());
  for (const T value : values)
    kinds.of_row.push_back(numbers.emplace(value, static_cast<uint32_t>(numbers.size())).first->second);
  kinds.count = static_cast<uint32_t>(numbers.size());
  return kinds;
}

// The rows of each kind, in the order of `order`. The kinds have the order in which they first appear there.
std::vector<std::vector<uint32_t>> rows_by_kind(const RowKinds& kinds, const std::vector<uint32_t>& order);

}  // namespace heddle::runtime::data
