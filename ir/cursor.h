// The cursor and the ring: words of 8 bytes by which entries that feed themselves find their batch, and tell the host of
// their steps.
//
//   cursor   position, step, fault, order, address of each column, then the rows' numbers, seed, epoch
//   ring     step, loss, count, fault, outside, index of each record; behind all of them the norm of each, then the loss
//            scale of each
//
// The host writes the cursor before the first of a row of steps, and each step moves it on.
#pragma once
#include <cstdint>
#include <string_view>

namespace heddle::ir {

constexpr int64_t kCursorPosition = 0;  // rows of the order that have been read
constexpr int64_t kCursorStep = 1;      // steps that have been recorded
constexpr int64_t kCursorFault = 2;     // of the batch that is being computed; kNoFault
constexpr int64_t kCursorOrder = 3;     // address of the rows' numbers, u32, in the order of reading; 0: as they lie
constexpr int64_t kCursorColumns = 4;   // from here on the addresses of the columns
// Behind the columns, where rows are changed at random: the address of their numbers in the data
// set, u32, in the order of reading (0: as they lie), the seed, and the epoch.
constexpr int64_t kCursorDraws = 3;
// An input that is not finite: (input << 48) | (row of the batch << 2) | (0: nan, 1: inf, 2: -inf);
// the least of a batch.
constexpr uint64_t kNoFault = ~uint64_t{0};
constexpr int64_t kMostColumns = int64_t{1} << 16;  // whose numbers a fault holds

// What a step leaves in the ring: the record of step s is number s modulo their number.
constexpr int64_t kRecordStep = 0;   // s
constexpr int64_t kRecordLoss = 1;   // f64
constexpr int64_t kRecordCount = 2;  // f64: how much of the batch counts in the loss
constexpr int64_t kRecordFault = 3;
// The first index of the batch that was outside of what it was to find: (check << 40) | place, or
// kNoFault; the index, i64.
constexpr int64_t kRecordOutside = 4;
constexpr int64_t kRecordIndex = 5;
constexpr int64_t kRecordWords = 6;

constexpr int64_t cursor_words(int64_t columns, bool draws) {
  return kCursorColumns + columns + (draws ? kCursorDraws : 0);
}
// A ring with loss scales has norms, too. The scale of a step that was skipped is below 0; 0: the entry has none.
constexpr int64_t ring_words(int64_t records, bool norms, bool scales = false) {
  return records * (kRecordWords + (scales ? 2 : norms ? 1 : 0));
}
// A result of a training step: by what its loss was scaled, below 0 where it was skipped.
inline constexpr std::string_view kToldScale = "step.scale";

}  // namespace heddle::ir
