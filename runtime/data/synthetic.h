// What the reader `synthetic` makes: rows that need no download. A record describes each kind of them.
//
//   {"op": "synthetic", "kind": "shapes", "rows": 6000, "seed": 7, "image": "image", "label": "label"}
//     -> image u8[32,32,3], label u8[]
//
// An element is a function of (kind, seed, row) and of the sizes that the model gives its inputs,
// the same on every machine.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/data/table.h"

namespace heddle::runtime::data {

inline constexpr int64_t kMaxSyntheticRows = 10'000'000;

struct SyntheticRow {
  const ReaderRequest& request;
  const ColumnRequest& column;
  uint64_t seed = 0;
  int64_t row = 0;
};

struct SyntheticColumn {
  std::string source;  // what an input's key says
  ElementType type = ElementType::u8;
  // Refuses an input of other sizes.
  std::function<void(const ReaderRequest&, const ColumnRequest&)> check;
  // One row of it, as many elements as `dims_of` says.
  std::function<void(const SyntheticRow&, std::byte* to)> draw;
  std::function<std::string()> tokenizer = {};  // of ids: a tokenizer.json; empty: they are none
};

struct SyntheticKind {
  std::string name;
  std::vector<SyntheticColumn> columns;
  bool holds_out = false;  // whether some combinations are kept for rows with "held_out", and never drawn for others
  // Of sounds: the settings that a reader of files has, so that a prediction reads files as rows were drawn.
  std::vector<ReaderSetting> sound = {};
  const SyntheticColumn& find(const ColumnRequest& c) const;  // throws UserError
};

// Whether rows with "held_out" alone have the combination of two parts: one in ten is so.
bool is_held_out(uint64_t first, uint64_t second);

// Each kind registers itself from a file of its own in runtime/data/drawn.
struct RegisterSynthetic {
  explicit RegisterSynthetic(SyntheticKind kind);
};
// In the order of their names.
std::vector<std::string> synthetic_names();
const SyntheticKind& synthetic_kind(const ReaderRequest& request);

// Throws UserError where an input does not take what the kind draws, or the rows are too many.
TableHeader synthetic_header(const ReaderRequest& request);

// All rows, by several threads. Throws as synthetic_header.
Table draw_table(const ReaderRequest& request);

// Checks that kinds share: one number a row; a picture [height,width] or with a last axis of 1 or `channels` channels.
void require_number(const ReaderRequest& request, const ColumnRequest& c);
void require_picture(const ReaderRequest& request, const ColumnRequest& c, int64_t channels);

inline constexpr int64_t kMinPictureSide = 8, kMaxPictureSide = 512;

}  // namespace heddle::runtime::data
