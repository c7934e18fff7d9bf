#include "runtime/data/row_kinds.h"

#include "ir/check.h"

namespace heddle::runtime::data {

void RowKinds::check(int64_t rows) const { HEDDLE_CHECK(empty() || std::ssize(of_row) == rows, "each row has a kind"); }

std::vector<std::vector<uint32_t>> rows_by_kind(const RowKinds& kinds, const std::vector<uint32_t>& order) {
  std::vector<std::vector<uint32_t>> rows;
  std::vector<uint32_t> place(kinds.count, UINT32_MAX);
  for (const uint32_t row : order) {
    uint32_t& kind = place[kinds.of_row[row]];
    if (kind == UINT32_MAX) kind = static_cast<uint32_t>(rows.size()), rows.emplace_back();
    rows[kind].push_back(row);
  }
  return rows;
}

}  // namespace heddle::runtime::data
