// The text of random changes of pictures: where an element of a row comes from, and what stands where nothing comes from.
//
//   [crop by up to 4] of [32,32,3]  ->  const hd::Words draw_0 = hd::fed_draw(cursor, row, 6, 0);
//                                       const int down_0 = hd::below(draw_0.x, 9) - 4;
//                                       const int right_0 = hd::below(draw_0.y, 9) - 4;
//   and for each element:               int py = (int)(e / 96), px = (int)(e / 3 % 32);
//                                       py += down_0, px += right_0;
//                                       const bool out_0 = py < 0 || py >= 32 || px < 0 || px >= 32;
//                                       py = out_0 ? 0 : py, px = out_0 ? 0 : px;
//                                       const int place = ((int)py * 32 + px) * 3 + e % 3;
//
// The list is applied from its first map to its last; so an element looks up its place from the last to the first.
#pragma once
#include <string>
#include <vector>

#include "codegen/feed.h"

namespace heddle::codegen {

struct PictureShape {
  int64_t height = 1, width = 1, channels = 1;
  bool channels_first = false;
};

// `first_draw` is the word of the cursor.
std::vector<std::string> picture_draws(const std::vector<FeedMap>& maps, const PictureShape& shape, int64_t first_draw);
// Declares `place`, the element of the stored row that comes to `at`, and `out_I` for each map I that may put its fill there.
std::vector<std::string> picture_place(const std::vector<FeedMap>& maps, const PictureShape& shape,
                                       const std::string& index_type, const std::string& at);

}  // namespace heddle::codegen
