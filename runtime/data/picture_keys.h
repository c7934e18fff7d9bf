// The keys of readers that say how a picture is resized to the input's size.
//
//   {"op": "image_folder", "resize": "cover", "filter": "bicubic"}  ->  {.how = ResizeKind::cover, .bicubic = true}
#pragma once
#include <vector>

#include "runtime/data/picture_resize.h"
#include "runtime/data/reader_def.h"

namespace heddle::runtime::data {

const std::vector<Key>& picture_keys();

// The resizing that the settings of such a reader state. Throws UserError.
Resizing resizing_of(const std::vector<ReaderSetting>& settings);

}  // namespace heddle::runtime::data
