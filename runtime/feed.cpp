#include "runtime/feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "ir/check.h"
#include "runtime/data/shuffle.h"

namespace heddle::runtime {
namespace {

std::optional<Fault> fault_of(const codegen::Feeding& feeding, uint64_t word) {
  if (word == codegen::kNoFault) return std::nullopt;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto input = static_cast<size_t>(word >> 48);
  const auto row = static_cast<int64_t>(word >> 2 & ((uint64_t{1} << 46) - 1));
  const double values[] = {std::nan(""), kInfinity, -kInfinity};
  HEDDLE_CHECK(input < feeding.columns.size() && (word & 3) < 3, "a record holds a fault");
  return Fault{feeding.columns[input].input, row, values[word & 3]};
}

std::optional<OutsideIndex> outside_of(const uint64_t* words) {
  const uint64_t word = words[codegen::kRecordOutside];
  if (word == codegen::kNoFault) return std::nullopt;
  constexpr int kPlaceBits = 40;
  return OutsideIndex{.check = word >> kPlaceBits,
                      .place = static_cast<int64_t>(word & ((uint64_t{1} << kPlaceBits) - 1)),
                      .index = static_cast<int64_t>(words[codegen::kRecordIndex])};
}

}  // namespace

Feed::Feed(Executable& executable, FeedOptions options)
    : executable_(executable), feeding_(executable.program().feeding), options_(std::move(options)) {
  HEDDLE_CHECK(!feeding_.columns.empty(), "a program that is fed has columns");
}

Feed::~Feed() {
  Device& device = executable_.device();
  for (const Placed& p : placed_)
    for (void* memory : p.columns) device.release(memory);
  for (const auto* pair : {&chunk_, &staged_})
    for (const std::vector<void*>& buffers : *pair)
      for (void* memory : buffers) device.release(memory);
  if (device_order_ != nullptr) device.release(device_order_);
}

const data::Column& Feed::column(size_t i) const {
  const codegen::FeedColumn& wanted = feeding_.columns[i];
  const data::Column* found = table_->find(wanted.input);
  HEDDLE_CHECK(found != nullptr, "no column feeds input '" + wanted.input + "'");
  HEDDLE_CHECK(
      data::to_string(found->type) == wanted.dtype,
      fmt::format("column '{}' is {}, the program reads {}", wanted.input, data::to_string(found->type), wanted.dtype));
  return *found;
}

std::vector<void*> Feed::allocate_columns(const std::vector<int64_t>& bytes, Memory kind) {
  std::vector<void*> columns;
  columns.reserve(bytes.size());
  for (int64_t size : bytes) columns.push_back(executable_.device().allocate(std::max<int64_t>(size, 1), kind));
  return columns;
}

int64_t Feed::room() const { return std::min(options_.resident_bytes, executable_.device().free_bytes() / 8 * 7); }

// Decided once for each table, because the free memory changes when tables are placed.
const Feed::Placed& Feed::place(const data::Table& table) {
  const auto known = std::ranges::find(placed_, &table, &Placed::table);
  if (known != placed_.end()) return *known;
  Device& device = executable_.device();
  std::vector<int64_t> bytes;
  for (size_t i = 0; i < feeding_.columns.size(); ++i) bytes.push_back(std::ssize(column(i).content()));
  const int64_t most = room();
  const int64_t all = std::accumulate(bytes.begin(), bytes.end(), table.rows * 4);  // the order takes 4 each
  // Rows with drawn offsets are gathered by the host in each epoch, because a step finds a row only by its number.
  const bool streamed = all > most || table.drawn_offsets;
  if (all > most && options_.note)
    options_.note(
        fmt::format("{} rows take {} bytes, {} may lie on the device: they are streamed", table.rows, all, most));
  Placed placed{.table = &table, .streamed = streamed, .columns = {}};
  if (!streamed && !device.host_addressable()) {
    placed.columns = allocate_columns(bytes, Memory::device);
    for (size_t i = 0; i < bytes.size(); ++i) device.write(placed.columns[i], column(i).content().data(), bytes[i]);
  }
  return placed_.emplace_back(std::move(placed));
}

void Feed::begin(const data::Table& table, std::span<const uint32_t> order, Draws draws) {
  table_ = &table, order_ = order, next_row_ = 0, draws_ = draws;
  Device& device = executable_.device();
  const Placed& placed = place(table);
  streaming_ = placed.streamed;
  const uint64_t steps[] = {static_cast<uint64_t>(taken_), codegen::kNoFault};
  codegen::Address at = feeding_.cursor;
  at.offset += codegen::kCursorStep * 8;
  executable_.write(at, steps, sizeof steps);
  executable_.provide_rows(streaming_ ? 0 : order.empty() ? table.rows : std::ssize(order));
  if (streaming_) return begin_streaming();
  const void* rows = order.data();
  std::vector<void*> columns;
  if (device.host_addressable()) {
    // Entries read their columns only.
    for (size_t i = 0; i < feeding_.columns.size(); ++i)
      columns.push_back(
          const_cast<std::byte*>(column(i).content().data()));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  } else {
    columns = placed.columns;
    if (std::ssize(order) > order_rows_) {
      if (device_order_ != nullptr) device.release(std::exchange(device_order_, nullptr));
      device_order_ = device.allocate(std::ssize(order) * 4), order_rows_ = std::ssize(order);
    }
    if (!order.empty()) device.write(device_order_, order.data(), std::ssize(order) * 4), rows = device_order_;
  }
  point_to(0, rows, columns, rows);
}

// The last row has no row after it, so it gets no offset.
const std::byte* Feed::row_of(const data::Column& from, size_t row) const {
  const std::byte* begin = from.content().data() + row * static_cast<size_t>(from.row_bytes());
  const auto number = static_cast<int64_t>(row);
  if (!table_->drawn_offsets || !draws_.training || number + 1 >= table_->rows) return begin;
  return begin + data::drawn_offset(draws_.seed, draws_.epoch, number, from.row_elements()) * size_of(from.type);
}

// A chunk is an eighth of the memory for columns, but not larger than efficient copies need, and at least a batch. Two
// chunks lie on the device, and two in pinned memory of the host.
void Feed::begin_streaming() {
  if (chunk_rows_ > 0) return;  // the rows of all tables have the types of the program's inputs, and so one size
  constexpr int64_t kChunks = 8, kMostChunkBytes = int64_t{256} << 20, kMostTextBytes = int64_t{16} << 20;
  int64_t row_bytes = 0, batch = 1;
  for (size_t i = 0; i < feeding_.columns.size(); ++i) row_bytes += column(i).row_bytes();
  for (const codegen::Entry& e : executable_.program().entries) batch = std::max(batch, e.fed_rows);
  const int64_t chunk_bytes = std::min(room() / kChunks, table_->drawn_offsets ? kMostTextBytes : kMostChunkBytes);
  const int64_t rows = std::max(batch, std::min(chunk_bytes / std::max<int64_t>(row_bytes, 1), table_->rows));
  chunk_rows_ = rows;
  std::vector<int64_t> bytes;
  for (size_t i = 0; i < feeding_.columns.size(); ++i) bytes.push_back(rows * column(i).row_bytes());
  if (feeding_.draws) bytes.push_back(rows * 4);
  for (auto& buffers : chunk_) buffers = allocate_columns(bytes, Memory::device);
  for (auto& buffers : staged_) buffers = allocate_columns(bytes, Memory::shared);
}

int64_t Feed::most_rows() const { return streaming_ ? chunk_rows_ : std::numeric_limits<int64_t>::max(); }

void Feed::provide(int64_t rows) {
  if (!streaming_) return;
  HEDDLE_CHECK(rows <= chunk_rows_, "as many rows as a chunk holds");
  const std::vector<void*>&to = chunk_[turn_], &staged = staged_[turn_];
  turn_ = 1 - turn_;
  for (size_t i = 0; i < feeding_.columns.size(); ++i) {
    const data::Column& from = column(i);
    const auto size = static_cast<size_t>(from.row_bytes());
    auto* gathered = static_cast<std::byte*>(staged[i]);
    for (int64_t r = 0; r < rows; ++r) {
      const auto place = static_cast<size_t>(next_row_ + r);
      const size_t row = order_.empty() ? place : order_[place];
      std::memcpy(gathered + static_cast<size_t>(r) * size, row_of(from, row), size);
    }
    executable_.device().prefetch(to[i], gathered, rows * from.row_bytes());
  }
  if (feeding_.draws) {
    auto* numbers = static_cast<uint32_t*>(staged.back());
    for (int64_t r = 0; r < rows; ++r) {
      const auto place = static_cast<size_t>(next_row_ + r);
      numbers[r] = order_.empty() ? static_cast<uint32_t>(place) : order_[place];
    }
    executable_.device().prefetch(to.back(), numbers, rows * 4);
  }
  next_row_ += rows;
  point_to(0, nullptr, to, feeding_.draws ? to.back() : nullptr);
  executable_.provide_rows(rows);
}

// Writes all words of the cursor except the counters of steps.
void Feed::point_to(int64_t position, const void* order, const std::vector<void*>& columns, const void* numbers) {
  std::vector<uint64_t> words = {std::bit_cast<uint64_t>(order)};
  for (size_t i = 0; i < feeding_.columns.size(); ++i) words.push_back(std::bit_cast<uint64_t>(columns[i]));
  if (feeding_.draws) words.insert(words.end(), {std::bit_cast<uint64_t>(numbers), draws_.seed, draws_.epoch});
  codegen::Address at = feeding_.cursor;
  const auto first = static_cast<uint64_t>(position);
  executable_.write(at, &first, sizeof first);
  at.offset += codegen::kCursorOrder * 8;
  executable_.write(at, words.data(), std::ssize(words) * 8);
}

std::vector<StepRecord> Feed::take(int64_t steps) {
  HEDDLE_CHECK(steps <= feeding_.records, "the ring holds the records that are taken");
  std::vector<StepRecord> records;
  records.reserve(static_cast<size_t>(steps));
  for (int64_t i = 0; i < steps; ++i, ++taken_) {
    const uint64_t* words = executable_.ring() + taken_ % feeding_.records * codegen::kRecordWords;
    HEDDLE_CHECK(static_cast<int64_t>(words[codegen::kRecordStep]) == taken_,
                 fmt::format("record {} of the ring is that of step {}", taken_, words[codegen::kRecordStep]));
    const auto count = std::bit_cast<double>(words[codegen::kRecordCount]);
    // Where rows have weights, a mean of nothing is 0 in the graph, so that other losses can be added to it.
    const double loss =
        count == 0 ? std::numeric_limits<double>::quiet_NaN() : std::bit_cast<double>(words[codegen::kRecordLoss]);
    std::optional<double> norm;
    if (feeding_.norms)
      norm = std::bit_cast<double>(executable_.ring()[feeding_.norms_at() + taken_ % feeding_.records]);
    std::optional<double> scale;
    if (feeding_.scales)
      scale = std::bit_cast<double>(executable_.ring()[feeding_.scales_at() + taken_ % feeding_.records]);
    if (scale == 0) scale.reset();  // of an entry that has none
    records.push_back({.step = taken_,
                       .loss = loss,
                       .count = count,
                       .fault = fault_of(feeding_, words[codegen::kRecordFault]),
                       .outside = outside_of(words),
                       .norm = norm,
                       .loss_scale = scale ? std::optional(std::abs(*scale)) : std::nullopt,
                       .skipped = scale && *scale < 0});
  }
  return records;
}

}  // namespace heddle::runtime
