// Reads WebP files by libwebp: lossy and lossless, with and without opacity. Of an animation, it reads the first frame
// on its canvas.
//
//   WebpPicture webp(file);     {.height = 480, .width = 640, .orientation = 6}, or {.fault = "..."}
//   webp.decode(take)           what a frame does not cover is transparent
//
// The format: RFC 9649. The orientation is that of the chunk EXIF.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "runtime/data/stored_picture.h"

namespace heddle::runtime::data {

class WebpPicture {
 public:
  explicit WebpPicture(std::span<const std::byte> file);
  std::string decode(const TakeRow& take);  // only without a fault
  StoredPicture stored;

 private:
  struct Reading;
  struct Close {
    void operator()(Reading* reading) const;
  };
  std::unique_ptr<Reading, Close> reading_;
};

}  // namespace heddle::runtime::data
