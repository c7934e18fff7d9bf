// Which way up a picture is: the orientation that Exif gives it, as cameras write it.
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

// 1 to 8 of what begins with "Exif" or with the TIFF; 1, as stored, where it says nothing, or is not as Exif defines it.
int exif_orientation(std::span<const unsigned char> exif);

// The size of a picture that is turned.
PictureSize turned_size(PictureSize stored, int orientation);
void turn_picture(const std::byte* from, PictureSize stored, int orientation, std::byte* to);

}  // namespace heddle::runtime::data
