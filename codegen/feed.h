// What a step that feeds itself begins and ends with: a kernel that makes the entry's inputs of
// rows of the data set, and one that records the loss.
//
//   image: u8[784] * 1/255 -> f32[128,784]
//     HD_ROWS(int, row, 128, 256) {
//       const auto* from = image + hd::fed_row(cursor, row) * 784;
//       ...
//         const float x = (float)from_packet[k];
//         image_result[k] = x * 0.00392156886f;
#pragma once
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "ir/map_def.h"

namespace heddle::codegen {

// How rows of a column become an input.
struct FeedSpec {
  std::string input;
  ir::DType stored;                    // as the data set holds it
  std::vector<ir::DataMap> maps = {};  // but those that only say what the file holds
  int64_t classes = 0;                 // > 0: a class number becomes this many zeros with a one, along the last axis
  bool channels_first = false;         // of a picture of three axes: [c,h,w]
};
bool draws(const FeedSpec& spec);  // whether a map of it is random

// The kernel that fills `inputs` of an entry with the next `rows` rows; `columns` are their places
// in the cursor. Its pointers are the inputs, then the cursor. Random maps act where it is for
// `training`. Symbol and facts as those of emit_kernel.
EmittedKernel emit_feed(const std::vector<Buffer>& inputs, const std::vector<FeedSpec>& columns, int64_t rows,
                        bool training, const std::string& symbol);

// What a step tells of itself: `loss`, `count` where the entry has it (nullptr: all rows count), and `outside`, a row
// [place, index] of i64 for each check of indices (nullptr: there are none).
struct Recorded {
  const Buffer* loss = nullptr;
  const Buffer* count = nullptr;
  const Buffer* outside = nullptr;
  const Buffer* norm =
      nullptr;  // of the gradients; where the program records norms and this is nullptr, nan is recorded
  bool norms = false;
};
// The kernel that records it. Its pointers are those, the cursor and the ring.
EmittedKernel emit_record(const Recorded& recorded, int64_t rows, int64_t records, const std::string& symbol);

}  // namespace heddle::codegen
