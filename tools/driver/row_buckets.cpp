#include "tools/driver/row_buckets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "ir/check.h"

namespace heddle::driver {
namespace {

using runtime::data::Column;
using runtime::data::Table;

const Column& column_of(const Table& table, const std::string& input) {
  const Column* column = table.find(input);
  HEDDLE_CHECK(column != nullptr, "a table has a column for each input: " + input);
  return *column;
}

// The largest of the first elements of each row; what is negative counts as nothing.
std::vector<int64_t> largest(const Column& column, int64_t rows, int64_t elements) {
  std::vector<int64_t> of_row(static_cast<size_t>(rows));
  runtime::data::visit(column.type, [&](auto value) {
    const std::byte* row = column.content().data();
    for (int64_t& most : of_row) {
      for (int64_t i = 0; i < elements; ++i) {
        std::memcpy(&value, row + static_cast<size_t>(i) * sizeof value, sizeof value);
        most = std::max(most, static_cast<int64_t>(value));
      }
      row += column.row_bytes();
    }
  });
  return of_row;
}

std::vector<int64_t> lengths_of(const frontend::TrainingPlan& plan, const Table& table) {
  std::vector<int64_t> lengths(static_cast<size_t>(table.rows));
  for (const frontend::Named& by : plan.data.buckets->by) {
    const std::vector<int64_t> of_input = largest(column_of(table, by.text), table.rows, 1);
    std::ranges::transform(lengths, of_input, lengths.begin(), [](int64_t a, int64_t b) { return std::max(a, b); });
  }
  return lengths;
}

// Rows that name a place which rows of this bucket have not.
void leave_out(const frontend::TrainingPlan& plan, const frontend::PlannedBucket& bucket, const Table& table,
               std::vector<uint8_t>& fits) {
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const frontend::PlannedInput& shorter = bucket.inputs[i];
    if (shorter.below < 0 || shorter.below == plan.inputs[i].below) continue;
    int64_t elements = 1;
    for (const int64_t size : shorter.stored) elements *= size;
    const std::vector<int64_t> places = largest(column_of(table, shorter.name), table.rows, elements);
    for (size_t row = 0; row < fits.size(); ++row)
      if (places[row] >= shorter.below) fits[row] = 0;
  }
}

}  // namespace

std::vector<uint8_t> row_buckets(const frontend::TrainingPlan& plan, const Table& table) {
  if (plan.buckets.empty()) return {};
  const std::vector<int64_t> lengths = lengths_of(plan, table);
  std::vector<uint8_t> of_row(lengths.size(), static_cast<uint8_t>(plan.buckets.size()));
  for (size_t i = plan.buckets.size(); i-- > 0;) {
    std::vector<uint8_t> fits(lengths.size(), 1);
    leave_out(plan, plan.buckets[i], table, fits);
    for (size_t row = 0; row < lengths.size(); ++row)
      if (fits[row] != 0 && lengths[row] <= plan.buckets[i].length) of_row[row] = static_cast<uint8_t>(i);
  }
  return of_row;
}

std::string bucket_note(const frontend::TrainingPlan& plan, const Table& table, const std::vector<uint8_t>& bucket,
                        const std::string& split) {
  if (bucket.empty()) return "";
  const int64_t longest = plan.data.buckets->longest;
  std::vector<int64_t> counts(plan.buckets.size() + 1);
  double used = 0, read = 0;
  const std::vector<int64_t> lengths = lengths_of(plan, table);
  for (size_t row = 0; row < bucket.size(); ++row) {
    ++counts[bucket[row]];
    const int64_t room = bucket[row] < plan.buckets.size() ? plan.buckets[bucket[row]].length : longest;
    used += static_cast<double>(std::min(lengths[row], room)), read += static_cast<double>(room);
  }
  std::vector<std::string> texts;
  for (size_t i = 0; i < counts.size(); ++i)
    texts.push_back(fmt::format("{} up to {}", counts[i], i < plan.buckets.size() ? plan.buckets[i].length : longest));
  const double whole = static_cast<double>(longest) * static_cast<double>(bucket.size());
  return fmt::format("{} rows by length: {}: {:.0f} % of them is padding, {:.0f} % without buckets", split,
                     fmt::join(texts, ", "), 100 * (1 - used / std::max(read, 1.0)),
                     100 * (1 - used / std::max(whole, 1.0)));
}

}  // namespace heddle::driver
