#include "runtime/data/picture_gif.h"

#include <gif_lib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "runtime/data/picture_library.h"

namespace heddle::runtime::data {
namespace {

struct GifLibrary {
  decltype(&DGifOpen) open;
  decltype(&DGifCloseFile) close;
  decltype(&DGifGetRecordType) record;
  decltype(&DGifGetExtension) extension;
  decltype(&DGifGetExtensionNext) extension_next;
  decltype(&DGifExtensionToGCB) control;
  decltype(&DGifGetImageDesc) describe;
  decltype(&DGifGetLine) line;
  decltype(&GifErrorString) error;
};

std::unique_ptr<GifLibrary> open_library(std::string* reason) {
  return open_picture_library<GifLibrary>(HEDDLE_LIBGIF, reason, [](void* library, GifLibrary& gif) {
    return resolve(library, "DGifOpen", gif.open) && resolve(library, "DGifCloseFile", gif.close) &&
           resolve(library, "DGifGetRecordType", gif.record) && resolve(library, "DGifGetExtension", gif.extension) &&
           resolve(library, "DGifGetExtensionNext", gif.extension_next) &&
           resolve(library, "DGifExtensionToGCB", gif.control) && resolve(library, "DGifGetImageDesc", gif.describe) &&
           resolve(library, "DGifGetLine", gif.line) && resolve(library, "GifErrorString", gif.error);
  });
}

constexpr int kNone = -1;
using Colour = std::array<std::byte, 4>;

// The rows of a picture in the order in which they are stored.
struct Pass {
  int first, step;
};
constexpr std::array<Pass, 4> kInterlaced = {{{0, 8}, {4, 8}, {2, 4}, {1, 2}}};
constexpr std::array<Pass, 1> kPlain = {{{0, 1}}};

}  // namespace

struct GifPicture::Reading {
  const GifLibrary* library = nullptr;
  std::span<const std::byte> rest;
  GifFileType* file = nullptr;
  int transparent = kNone;

  static int read(GifFileType* file, GifByteType* to, int count) {
    auto& rest = static_cast<Reading*>(file->UserData)->rest;
    const size_t size = std::min(rest.size(), static_cast<size_t>(std::max(count, 0)));
    std::memcpy(to, rest.data(), size);
    rest = rest.subspan(size);
    return static_cast<int>(size);
  }
  std::string error(int code) const {
    const char* text = library->error(code);
    return text != nullptr ? text : "it ends early";
  }
  std::string error() const { return error(file->Error); }

  // What stands before a picture; only that one is transparent, and where, counts.
  bool read_extension() {
    int code = 0;
    GifByteType* block = nullptr;
    if (library->extension(file, &code, &block) == GIF_ERROR) return false;
    while (block != nullptr) {
      GraphicsControlBlock control{};
      if (code == GRAPHICS_EXT_FUNC_CODE && library->control(block[0], block + 1, &control) == GIF_OK)
        transparent = control.TransparentColor;
      if (library->extension_next(file, &block) == GIF_ERROR) return false;
    }
    return true;
  }
  // Up to the first picture's pixels: "" or why there are none.
  std::string find_picture() {
    GifRecordType record = UNDEFINED_RECORD_TYPE;
    while (record != IMAGE_DESC_RECORD_TYPE) {
      if (library->record(file, &record) == GIF_ERROR) return error();
      if (record == TERMINATE_RECORD_TYPE) return "there is no picture in it";
      if (record == EXTENSION_RECORD_TYPE && !read_extension()) return error();
    }
    return library->describe(file) == GIF_ERROR ? error() : "";
  }
  std::string begin() {
    int code = 0;
    file = library->open(this, read, &code);
    return file == nullptr ? error(code) : find_picture();
  }
  // Of each value; what is none of the table's has none.
  std::array<std::optional<Colour>, 256> colours_of_values() const {
    const ColorMapObject* map = file->Image.ColorMap != nullptr ? file->Image.ColorMap : file->SColorMap;
    std::array<std::optional<Colour>, 256> all;
    for (size_t i = 0; i < all.size() && (map == nullptr || i < static_cast<size_t>(map->ColorCount)); ++i) {
      const auto grey = static_cast<GifByteType>(i);
      const GifColorType c = map != nullptr ? map->Colors[i] : GifColorType{grey, grey, grey};
      all[i] = {std::byte{c.Red}, std::byte{c.Green}, std::byte{c.Blue}, std::byte{0xff}};
    }
    if (transparent != kNone) all[static_cast<size_t>(transparent)] = Colour{};
    return all;
  }
};

void GifPicture::Close::operator()(Reading* reading) const {
  int code = 0;
  if (reading->file != nullptr) reading->library->close(reading->file, &code);
  delete reading;
}

GifPicture::GifPicture(std::span<const std::byte> file) : reading_(new Reading) {
  reading_->library = find_once<GifLibrary>(open_library, &stored.fault);
  reading_->rest = file;
  if (reading_->library == nullptr) {
    stored.help = kInstallHelp;
    return;
  }
  stored.fault = reading_->begin();
  if (!stored.fault.empty()) return;
  const GifFileType& gif = *reading_->file;
  stored.height = std::max(gif.SHeight, gif.Image.Top + gif.Image.Height);
  stored.width = std::max(gif.SWidth, gif.Image.Left + gif.Image.Width);
  if (gif.Image.Height <= 0 || gif.Image.Width <= 0) stored.fault = "its first picture has no pixels";
}

std::string GifPicture::decode(const TakeRow& take) {
  const GifFileType& gif = *reading_->file;
  const GifImageDesc& image = gif.Image;
  const auto colours = reading_->colours_of_values();
  const Colour around = reading_->transparent == kNone ? colours[0].value_or(Colour{}) : Colour{};
  std::vector<Colour> row(static_cast<size_t>(stored.width), around);
  for (int64_t y = 0; y < stored.height; ++y)
    if (y < image.Top || y >= image.Top + image.Height) take(y, std::as_bytes(std::span(row)));
  std::vector<GifPixelType> indices(static_cast<size_t>(image.Width));
  for (const Pass& pass : image.Interlace ? std::span<const Pass>(kInterlaced) : std::span<const Pass>(kPlain))
    for (int y = pass.first; y < image.Height; y += pass.step) {
      if (reading_->library->line(reading_->file, indices.data(), image.Width) == GIF_ERROR) return reading_->error();
      for (size_t x = 0; x < indices.size(); ++x) {
        const std::optional<Colour>& colour = colours[indices[x]];
        if (!colour) return "a pixel is none of the palette's colours";
        row[static_cast<size_t>(image.Left) + x] = *colour;
      }
      take(image.Top + y, std::as_bytes(std::span(row)));
    }
  return {};
}

PictureLibraryState gif_state() {
  std::string reason;
  const bool found = find_once<GifLibrary>(open_library, &reason) != nullptr;
  return {"libgif", found ? HEDDLE_LIBGIF : reason, found};  // it does not say its version
}

}  // namespace heddle::runtime::data
