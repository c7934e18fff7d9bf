// Reads GIF files by giflib: the first picture, at its place on the logical screen.
//
//   GifPicture gif(file);     {.height = 14, .width = 20}: the screen, or more where the picture reaches beyond it
//   gif.decode(take)          what the picture does not cover is transparent, or the first colour where none is
//
// The result is that of Pillow. Later pictures are ignored. Without a colour table, values are grey.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "runtime/data/stored_picture.h"

namespace heddle::runtime::data {

class GifPicture {
 public:
  explicit GifPicture(std::span<const std::byte> file);
  std::string decode(const TakeRow& take);  // to be called once, and only without a fault
  StoredPicture stored;

 private:
  struct Reading;
  struct Close {
    void operator()(Reading* reading) const;
  };
  std::unique_ptr<Reading, Close> reading_;
};

}  // namespace heddle::runtime::data
