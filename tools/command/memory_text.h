// What `heddle inspect --memory` knows of a training's memory, as a table and as JSON.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/driver/memory_parts.h"

namespace heddle::tools {

// A limit, and what a training under it does.
struct LimitRow {
  int64_t limit_bytes = 0;
  size_t again = 0;  // blocks that are computed again, of `blocks`
  double step_seconds = 0;
};

// The largest batch within the limit.
struct BatchAnswer {
  int64_t rows = 0, next = 0;  // as LargestBatch
  size_t again = 0;
  double step_seconds = 0;
  std::string words;  // that ask for it: "--batch 96"
};

struct MemoryFacts {
  std::string name, target, batch_name;
  int64_t batch = 0;
  std::vector<std::string> blocks;  // in the order in which they are computed again
  size_t again = 0;                 // of them in the program whose parts these are
  driver::MemoryParts parts;
  int64_t state_bytes = 0, arena_bytes = 0, ring_bytes = 0;
  std::optional<int64_t> data_bytes;
  std::string data_note;
  std::vector<LimitRow> rows;  // the largest limit first; none: nothing is trained
  std::string rows_note;       // why there is one row at most
  int64_t limit = 0;           // that was given, 0: none
  bool refused = false;        // within it, with this batch
  std::optional<BatchAnswer> largest;
  std::string batch_note;  // why there is none
  int64_t plans = 0;       // that were made
};

std::string memory_text(const MemoryFacts& facts);
std::string memory_json(const MemoryFacts& facts);

}  // namespace heddle::tools
