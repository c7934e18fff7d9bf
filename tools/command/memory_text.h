// Writes what `heddle inspect --memory` found out about a training's memory, as a table and as JSON.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/driver/memory_parts.h"

namespace heddle::tools {

// A memory limit, and a training under it.
struct LimitRow {
  int64_t limit_bytes = 0;
  size_t again = 0;  // how many of `blocks` are computed again
  double step_seconds = 0;
};

// The largest batch within the limit.
struct BatchAnswer {
  int64_t rows = 0, next = 0;  // as in LargestBatch
  size_t again = 0;
  double step_seconds = 0;
  std::string words;  // the option for this batch: "--batch 96"
};

struct MemoryFacts {
  std::string name, target, batch_name;
  int64_t batch = 0;
  std::vector<std::string> blocks;  // in the order in which they are computed again
  size_t again = 0;                 // how many of them, in the program of `parts`
  driver::MemoryParts parts;
  int64_t state_bytes = 0, arena_bytes = 0, ring_bytes = 0;
  std::optional<int64_t> data_bytes;
  std::string data_note;
  std::vector<LimitRow> rows;  // the largest limit first; empty: nothing is trained
  std::string rows_note;       // why there is at most one row
  int64_t limit = 0;           // the given limit, 0: none
  bool refused = false;        // this batch does not fit into the limit
  std::optional<BatchAnswer> largest;
  std::string batch_note;  // why `largest` is empty
  int64_t plans = 0;       // number of plans made
};

std::string memory_text(const MemoryFacts& facts);
std::string memory_json(const MemoryFacts& facts);

}  // namespace heddle::tools
