#include "runtime/data/tiff_file.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "runtime/data/picture_library.h"
#include "runtime/data/printable.h"

namespace heddle::runtime::data {
namespace {

std::unique_ptr<TiffLibrary> open_library(std::string* reason) {
  return open_picture_library<TiffLibrary>(HEDDLE_LIBTIFF, reason, [](void* library, TiffLibrary& tiff) {
    return resolve(library, "TIFFClientOpenExt", tiff.open) && resolve(library, "TIFFClose", tiff.close) &&
           resolve(library, "TIFFOpenOptionsAlloc", tiff.make_options) &&
           resolve(library, "TIFFOpenOptionsFree", tiff.free_options) &&
           resolve(library, "TIFFOpenOptionsSetMaxSingleMemAlloc", tiff.limit_memory) &&
           resolve(library, "TIFFOpenOptionsSetErrorHandlerExtR", tiff.on_error) &&
           resolve(library, "TIFFOpenOptionsSetWarningHandlerExtR", tiff.on_warning) &&
           resolve(library, "TIFFGetFieldDefaulted", tiff.get) && resolve(library, "TIFFSetField", tiff.set) &&
           resolve(library, "TIFFIsTiled", tiff.is_tiled) &&
           resolve(library, "TIFFIsCODECConfigured", tiff.has_codec) &&
           resolve(library, "TIFFComputeTile", tiff.tile_at) && resolve(library, "TIFFComputeStrip", tiff.strip_at) &&
           resolve(library, "TIFFReadEncodedTile", tiff.read_tile) &&
           resolve(library, "TIFFReadEncodedStrip", tiff.read_strip) &&
           resolve(library, "TIFFReadRGBAImageOriented", tiff.read_rgba) &&
           resolve(library, "TIFFGetVersion", tiff.version);
  });
}

std::string text_of(const char* format, va_list words) {
  std::array<char, 512> text{};
  std::vsnprintf(text.data(), text.size(), format, words);
  return text.data();
}

// libtiff does not write, map or close what it was given.
tmsize_t write_nothing(thandle_t, void*, tmsize_t) { return 0; }
int close_nothing(thandle_t) { return 0; }
int map_nothing(thandle_t, void**, toff_t*) { return 0; }
void unmap_nothing(thandle_t, void*, toff_t) {}

}  // namespace

// Both return that the message was handled, so that libtiff's own handlers do not print it.
int TiffFile::note_error(TIFF*, void* self, const char*, const char* format, va_list words) {
  std::string& error = static_cast<TiffFile*>(self)->error_;
  if (error.empty()) error = printable(text_of(format, words));
  return 1;
}
int TiffFile::note_warning(TIFF*, void* self, const char*, const char* format, va_list words) {
  auto& file = *static_cast<TiffFile*>(self);
  const std::string text = text_of(format, words);
  file.no_extra_samples |= text.find("as ExtraSamples") != std::string::npos;
  // libtiff opens a directory in spite of such a field, and ignores the field: a palette picture without its colours
  // would be grey.
  file.incomplete_ |= text.starts_with("IO error") || text.find("ColorMap") != std::string::npos;
  if (file.warning_.empty() || file.incomplete_) file.warning_ = printable(text);
  return 1;
}

tmsize_t TiffFile::read(thandle_t self, void* to, tmsize_t size) {
  auto& in = *static_cast<TiffFile*>(self);
  if (size <= 0 || in.at_ >= in.file_.size()) return 0;
  const size_t count = std::min(static_cast<size_t>(size), in.file_.size() - static_cast<size_t>(in.at_));
  std::memcpy(to, in.file_.data() + in.at_, count);
  in.at_ += count;
  return static_cast<tmsize_t>(count);
}

toff_t TiffFile::seek(thandle_t self, toff_t offset, int whence) {
  auto& in = *static_cast<TiffFile*>(self);
  return in.at_ = offset + (whence == SEEK_CUR ? in.at_ : whence == SEEK_END ? in.file_.size() : 0);
}

TiffFile::TiffFile(std::span<const std::byte> file) : file_(file) {
  library = find_once<TiffLibrary>(open_library, &error_);
  if (library == nullptr) return;
  const auto size = [](thandle_t self) -> toff_t { return static_cast<TiffFile*>(self)->file_.size(); };
  TIFFOpenOptions* options = library->make_options();
  library->limit_memory(options, kMostTiffBytes);
  library->on_error(options, note_error, this);
  library->on_warning(options, note_warning, this);
  tiff_ = library->open("TIFF", "rm", this, read, write_nothing, seek, close_nothing, size, map_nothing, unmap_nothing,
                        options);
  library->free_options(options);
  if (tiff_ != nullptr && incomplete_)
    library->close(tiff_), tiff_ = nullptr;
  else if (tiff_ != nullptr)
    forget();  // warnings, of fields that nobody knows for example
  else if (problem().empty())
    error_ = "it ends early";
}

TiffFile::~TiffFile() {
  if (tiff_ != nullptr) library->close(tiff_);
}

uint16_t TiffFile::short_number(uint32_t tag) const {
  uint16_t value = 0;
  library->get(tiff_, tag, &value);
  return value;
}
uint32_t TiffFile::number(uint32_t tag) const {
  uint32_t value = 0;
  library->get(tiff_, tag, &value);
  return value;
}

PictureLibraryState tiff_state() {
  std::string reason;
  const TiffLibrary* library = find_once<TiffLibrary>(open_library, &reason);
  if (library == nullptr) return {"libtiff", reason, false};
  // "LIBTIFF, Version 4.5.0", and whose it is on the lines behind.
  const std::string text = library->version();
  const std::string first = text.substr(0, text.find('\n'));
  return {"libtiff", first.substr(first.rfind(' ') + 1), true};
}

}  // namespace heddle::runtime::data
