// Turns a picture upright, by the orientation that cameras write into Exif.
//
//   orientation 6, 2 x 3 pixels   a b c   ->   d a
//                                 d e f        e b
//                                              f c
//
// Exif 2.32 (CIPA DC-008), 4.6.4: tag 0x112 of the first directory of a TIFF that follows "Exif" and two zeros in a JPEG's
// APP1, and stands alone, or behind them, in WebP's chunk EXIF.
#pragma once
#include <cstddef>
#include <span>

#include "runtime/data/picture_resize.h"

namespace heddle::runtime::data {

// Returns the orientation, 1 to 8. `exif` begins with "Exif" or with the TIFF. Returns 1 (as stored) where it has no
// orientation or is malformed.
int exif_orientation(std::span<const unsigned char> exif);

// The size of the picture after turning.
PictureSize turned_size(PictureSize stored, int orientation);
void turn_picture(const std::byte* from, PictureSize stored, int orientation, std::byte* to);

}  // namespace heddle::runtime::data
