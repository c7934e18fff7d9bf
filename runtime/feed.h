// Feed: supplies fed entries with rows and takes the records of their steps. It puts the data set's columns and the
// order of rows where the device can read them, and sets the cursor.
//
//   Feed feed(executable);
//   feed.begin(table, order);                  // the next step takes order[0], order[1], ...
//   feed.provide(128);
//   executable.submit(entry, 2);               // two steps of 64 rows
//   feed.take(2) -> {{.step = 0, .loss = 2.3}, {.step = 1, .loss = 2.1}}, once they have been executed
#pragma once
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/index_error.h"
#include "runtime/data/table.h"
#include "runtime/executable.h"

namespace heddle::runtime {

// An element of a batch that is not finite.
struct Fault {
  std::string input;
  int64_t row = 0;   // of the batch
  double value = 0;  // nan, inf or -inf
};
struct StepRecord {
  int64_t step = 0;  // counts from 0 over all that the program has run
  double loss = 0;   // nan where nothing counts
  double count = 0;  // how much of the batch counts in the loss
  std::optional<Fault> fault;
  std::optional<OutsideIndex> outside;    // an index outside its range, by the model's first check that found one
  std::optional<double> norm;             // of the gradients, where the entry records it
  std::optional<double> loss_scale = {};  // of this step, where it is recorded
  bool skipped = false;                   // the step changed only the loss scale
};

// What random data maps depend on, besides the row.
struct Draws {
  uint64_t seed = 0, epoch = 0;
  bool training = false;  // rows may begin elsewhere in each epoch (Table::drawn_offsets)
};

struct FeedOptions {
  // A table is streamed where it takes more bytes on the device than this, or more than seven eighths of the memory
  // that is free when the table is first used. The host device reads the columns where they lie.
  int64_t resident_bytes = std::numeric_limits<int64_t>::max();
  std::function<void(const std::string&)> note = {};  // told for each table that is streamed for its size
};

class Feed {
 public:
  explicit Feed(Executable& executable, FeedOptions options = {});
  ~Feed();
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  // Sets the rows that the next steps read. No step may be under way. The columns must have the program's types.
  // `order`: row numbers; empty: all rows in turn. Table and order must not change until all steps that read them have
  // been executed.
  void begin(const data::Table& table, std::span<const uint32_t> order, Draws draws = {});
  // The most rows that one call of `provide` takes.
  int64_t most_rows() const;
  // Makes the next rows readable for the device. The submission before the last one must have been executed.
  void provide(int64_t rows);
  // Returns the records of the next `steps` steps, which must have been executed.
  std::vector<StepRecord> take(int64_t steps);
  // Records that the ring can hold: at most so many steps may be submitted and not yet taken.
  int64_t most_steps() const { return feeding_.records; }

 private:
  // A table that has been used before, with its columns on the device; no columns where it is streamed or the host can
  // address the device.
  struct Placed {
    const data::Table* table;
    bool streamed;
    std::vector<void*> columns;
  };
  int64_t room() const;  // bytes that columns may take on the device
  const Placed& place(const data::Table& table);
  const data::Column& column(size_t i) const;
  const std::byte* row_of(const data::Column& from, size_t row) const;  // with this epoch's offset
  std::vector<void*> allocate_columns(const std::vector<int64_t>& bytes, Memory kind);
  void begin_streaming();
  // Sets the cursor. `numbers`: the row numbers, where maps are random.
  void point_to(int64_t position, const void* order, const std::vector<void*>& columns, const void* numbers);

  Executable& executable_;
  const codegen::Feeding& feeding_;
  FeedOptions options_;
  const data::Table* table_ = nullptr;
  std::span<const uint32_t> order_;
  std::vector<Placed> placed_;
  void* device_order_ = nullptr;
  int64_t order_rows_ = 0;  // capacity of device_order_
  // Streaming: two buffers are used in turn. Each has room for `chunk_rows_` rows, on the device and in memory that the
  // host fills.
  bool streaming_ = false;
  std::vector<void*> chunk_[2], staged_[2];  // each column, then the row numbers where maps are random
  Draws draws_;
  int64_t chunk_rows_ = 0, next_row_ = 0;
  int turn_ = 0;
  int64_t taken_ = 0;  // steps whose records have been taken
};

}  // namespace heddle::runtime
