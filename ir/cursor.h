// The layout of the cursor and the ring. Both are arrays of 8-byte words on the device. An entry that reads its own
// batches finds its rows by the cursor, and writes a record of each step into the ring for the host.
//
//   cursor   position, step, fault, order, address of each column, then the rows' numbers, seed, epoch
//   ring     step, loss, count, fault, outside, index of each record; behind all of them the norm of each, then the loss
//            scale of each
//
// The host writes the cursor before the first step of a submission. Each step then advances it.
#pragma once
#include <cstdint>
#include <string_view>

namespace heddle::ir {

constexpr int64_t kCursorPosition = 0;  // rows of the order that have been read
constexpr int64_t kCursorStep = 1;      // steps that have been recorded
constexpr int64_t kCursorFault = 2;     // the fault of the batch in progress, or kNoFault
constexpr int64_t kCursorOrder = 3;     // address of the row numbers (u32) in the order of reading; 0: rows 0, 1, ...
constexpr int64_t kCursorColumns = 4;   // the addresses of the columns begin at this word
// Entries with random maps have this number of words after the columns: the address of each row's number in the data
// set (u32, in the order of reading; 0: rows 0, 1, 2, ...), the seed, and the epoch.
constexpr int64_t kCursorDraws = 3;
// A fault is an input element that is not finite: (input << 48) | (row of the batch << 2) | (0: nan, 1: inf, 2: -inf).
// The least fault of a batch is kept.
constexpr uint64_t kNoFault = ~uint64_t{0};
constexpr int64_t kMostColumns = int64_t{1} << 16;  // a fault has 16 bits for the input

// The words of a record. Step s writes record s modulo the number of records.
constexpr int64_t kRecordStep = 0;   // s
constexpr int64_t kRecordLoss = 1;   // f64
constexpr int64_t kRecordCount = 2;  // f64: how much of the batch counts in the loss
constexpr int64_t kRecordFault = 3;  // the cursor's fault
// The first index of the batch that is out of range: (check << 40) | position, or kNoFault. The next word is its value,
// i64.
constexpr int64_t kRecordOutside = 4;
constexpr int64_t kRecordIndex = 5;
constexpr int64_t kRecordWords = 6;

constexpr int64_t cursor_words(int64_t columns, bool draws) {
  return kCursorColumns + columns + (draws ? kCursorDraws : 0);
}
// The number of words of a ring. A ring with loss scales also has norms. The scale of a skipped step is below 0; 0
// means that the entry has no loss scale.
constexpr int64_t ring_words(int64_t records, bool norms, bool scales = false) {
  return records * (kRecordWords + (scales ? 2 : norms ? 1 : 0));
}
// The name of a training step's result that holds its loss scale. It is below 0 if the step was skipped.
inline constexpr std::string_view kToldScale = "step.scale";

}  // namespace heddle::ir
