// SyntheticKind: the record of one kind of rows that the reader `synthetic` draws. Such rows need no download.
//
//   {"op": "synthetic", "kind": "shapes", "rows": 6000, "seed": 7, "image": "image", "label": "label"}
//     -> image u8[32,32,3], label u8[]
//
// An element depends on (kind, seed, row) and on the sizes of the model's inputs alone: it is the same on every
// machine.
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
  std::string source;  // the word in an input's key
  ElementType type = ElementType::u8;
  // Throws UserError where the input has other sizes.
  std::function<void(const ReaderRequest&, const ColumnRequest&)> check;
  // Draws one row, with as many elements as `dims_of` says.
  std::function<void(const SyntheticRow&, std::byte* to)> draw;
  std::function<std::string()> tokenizer = {};  // for ids: makes a tokenizer.json; empty: no ids
};

struct SyntheticKind {
  std::string name;
  std::vector<SyntheticColumn> columns;
  bool holds_out = false;  // some combinations are drawn only for rows with "held_out"
  // For sounds: the settings with which a prediction reads files so that they match the drawn rows.
  std::vector<ReaderSetting> sound = {};
  const SyntheticColumn& find(const ColumnRequest& c) const;  // throws UserError
};

// Whether the combination of two parts is drawn only for rows with "held_out": one in ten is.
bool is_held_out(uint64_t first, uint64_t second);

// Each kind registers itself in one file of runtime/data/drawn.
struct RegisterSynthetic {
  explicit RegisterSynthetic(SyntheticKind kind);
};
// The names of all kinds, sorted.
std::vector<std::string> synthetic_names();
const SyntheticKind& synthetic_kind(const ReaderRequest& request);

// Throws UserError where an input does not fit what the kind draws, or there are too many rows.
TableHeader synthetic_header(const ReaderRequest& request);

// Draws all rows, in several threads. Throws as synthetic_header does.
Table draw_table(const ReaderRequest& request);

// Checks that several kinds use. Throw UserError unless a row is one number, or a picture [height,width], which may
// have a last axis of 1 or `channels`.
void require_number(const ReaderRequest& request, const ColumnRequest& c);
void require_picture(const ReaderRequest& request, const ColumnRequest& c, int64_t channels);

inline constexpr int64_t kMinPictureSide = 8, kMaxPictureSide = 512;

}  // namespace heddle::runtime::data
