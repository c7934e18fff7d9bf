// TiffFile: a TIFF in memory that libtiff has opened. It reads fields of the first directory, and keeps the library's
// errors and warnings, which are not printed.
//
//   TiffFile tiff(file);             !tiff: tiff.reason says what is missing, or wrong with it
//   tiff.number(TIFFTAG_IMAGEWIDTH)  ->  640
//   tiff.problem()                   the first error since `forget`, or the first warning where none came
//
// The first TiffFile opens libtiff (picture_library.h).
#pragma once
#include <tiffio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace heddle::runtime::data {

// Limit in bytes of one allocation of libtiff, and of a strip or a tile.
inline constexpr int64_t kMostTiffBytes = int64_t{1} << 29;

struct TiffLibrary {
  decltype(&TIFFClientOpenExt) open;
  decltype(&TIFFClose) close;
  decltype(&TIFFOpenOptionsAlloc) make_options;
  decltype(&TIFFOpenOptionsFree) free_options;
  decltype(&TIFFOpenOptionsSetMaxSingleMemAlloc) limit_memory;
  decltype(&TIFFOpenOptionsSetErrorHandlerExtR) on_error;
  decltype(&TIFFOpenOptionsSetWarningHandlerExtR) on_warning;
  decltype(&TIFFGetFieldDefaulted) get;
  decltype(&TIFFSetField) set;
  decltype(&TIFFIsTiled) is_tiled;
  decltype(&TIFFIsCODECConfigured) has_codec;
  decltype(&TIFFComputeTile) tile_at;
  decltype(&TIFFComputeStrip) strip_at;
  decltype(&TIFFReadEncodedTile) read_tile;
  decltype(&TIFFReadEncodedStrip) read_strip;
  decltype(&TIFFReadRGBAImageOriented) read_rgba;
  decltype(&TIFFGetVersion) version;
};

class TiffFile {
 public:
  explicit TiffFile(std::span<const std::byte> file);
  ~TiffFile();
  TiffFile(const TiffFile&) = delete;
  TiffFile& operator=(const TiffFile&) = delete;

  explicit operator bool() const { return tiff_ != nullptr; }
  TIFF* get() const { return tiff_; }
  // A field that is one number of 16 or 32 bits. Where the file lacks it: its default, or 0 where it has no default.
  uint16_t short_number(uint32_t tag) const;
  uint32_t number(uint32_t tag) const;

  const std::string& problem() const { return error_.empty() ? warning_ : error_; }
  void forget() { error_.clear(), warning_.clear(); }

  const TiffLibrary* library = nullptr;  // nullptr: `problem` says so
  // The file lacks the field that describes its extra samples, for example opacity.
  bool no_extra_samples = false;

 private:
  static int note_error(TIFF* tiff, void* self, const char* module, const char* format, va_list words);
  static int note_warning(TIFF* tiff, void* self, const char* module, const char* format, va_list words);
  static tmsize_t read(thandle_t self, void* to, tmsize_t size);
  static toff_t seek(thandle_t self, toff_t offset, int whence);

  std::span<const std::byte> file_;
  uint64_t at_ = 0;
  bool incomplete_ = false;
  std::string error_, warning_;
  TIFF* tiff_ = nullptr;
};

}  // namespace heddle::runtime::data
