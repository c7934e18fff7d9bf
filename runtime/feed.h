// Feed: what fed entries read and what they leave: the data set's columns where the device can read them, the order of
// rows, the cursor; and the records of their steps.
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
  std::optional<OutsideIndex> outside;    // the first of the model's first check that met one
  std::optional<double> norm;             // of the gradients, where the entry tells it
  std::optional<double> loss_scale = {};  // that the step had, where it tells it
  bool skipped = false;                   // it changed nothing but the loss scale
};

// What random maps of rows depend on, beside the row.
struct Draws {
  uint64_t seed = 0, epoch = 0;
  bool training = false;  // rows may begin elsewhere in each epoch (Table::drawn_offsets)
};

struct FeedOptions {
  // Columns of a table that take more on the device, or more than seven eighths of what is free there when the table is
  // first read, are streamed. A host's memory is the device's: nothing is copied.
  int64_t resident_bytes = std::numeric_limits<int64_t>::max();
  std::function<void(const std::string&)> note = {};  // is told, for each table, that it is streamed and why
};

class Feed {
 public:
  explicit Feed(Executable& executable, FeedOptions options = {});
  ~Feed();
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  // No step may be under way. The columns' types are the program's. `order` numbers the rows;
  // empty: as they lie. Both must stay as they are until all steps that read them have been
  // executed.
  void begin(const data::Table& table, std::span<const uint32_t> order, Draws draws = {});
  // Rows that `provide` takes at most.
  int64_t most_rows() const;
  // Makes the next rows readable. The submission before the last one must have been executed.
  void provide(int64_t rows);
  // The records of the next steps, all of them executed.
  std::vector<StepRecord> take(int64_t steps);
  // Records that the ring can hold: submitted and not yet taken.
  int64_t most_steps() const { return feeding_.records; }

 private:
  // A table that has been read before: its columns on the device, none where it is streamed.
  struct Placed {
    const data::Table* table;
    bool streamed;
    std::vector<void*> columns;
  };
  int64_t room() const;  // that columns may take on the device
  const Placed& place(const data::Table& table);
  const data::Column& column(size_t i) const;
  const std::byte* row_of(const data::Column& from, size_t row) const;  // as this epoch has it
  std::vector<void*> allocate_columns(const std::vector<int64_t>& bytes, Memory kind);
  void begin_streaming();
  // `numbers` of the rows that are read, where maps are random.
  void point_to(int64_t position, const void* order, const std::vector<void*>& columns, const void* numbers);

  Executable& executable_;
  const codegen::Feeding& feeding_;
  FeedOptions options_;
  const data::Table* table_ = nullptr;
  std::span<const uint32_t> order_;
  std::vector<Placed> placed_;
  void* device_order_ = nullptr;
  int64_t order_rows_ = 0;  // that device_order_ has room for
  // Streaming: two buffers in turn, each with room for `chunk_rows_`, on the device and for the host to fill.
  bool streaming_ = false;
  std::vector<void*> chunk_[2], staged_[2];  // of each column, then of the rows' numbers where maps are random
  Draws draws_;
  int64_t chunk_rows_ = 0, next_row_ = 0;
  int turn_ = 0;
  int64_t taken_ = 0;  // steps whose records have been taken
};

}  // namespace heddle::runtime
