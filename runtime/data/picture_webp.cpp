#include "runtime/data/picture_webp.h"

#include <webp/decode.h>
#include <webp/demux.h>

#include <vector>

#include "runtime/data/picture_library.h"
#include "runtime/data/picture_turn.h"

namespace heddle::runtime::data {
namespace {

struct WebpLibrary {
  decltype(&WebPInitDecoderConfigInternal) init;
  decltype(&WebPDecode) decode;
  decltype(&WebPGetDecoderVersion) version;
};
struct WebpDemuxLibrary {
  decltype(&WebPDemuxInternal) demux;
  decltype(&WebPDemuxDelete) destroy;
  decltype(&WebPDemuxGetI) number;
  decltype(&WebPDemuxGetFrame) frame;
  decltype(&WebPDemuxReleaseIterator) release_frame;
  decltype(&WebPDemuxGetChunk) chunk;
  decltype(&WebPDemuxReleaseChunkIterator) release_chunk;
};

std::unique_ptr<WebpLibrary> open_library(std::string* reason) {
  return open_picture_library<WebpLibrary>(HEDDLE_LIBWEBP, reason, [](void* library, WebpLibrary& webp) {
    return resolve(library, "WebPInitDecoderConfigInternal", webp.init) &&
           resolve(library, "WebPDecode", webp.decode) && resolve(library, "WebPGetDecoderVersion", webp.version);
  });
}
std::unique_ptr<WebpDemuxLibrary> open_demux(std::string* reason) {
  return open_picture_library<WebpDemuxLibrary>(HEDDLE_LIBWEBPDEMUX, reason, [](void* library, WebpDemuxLibrary& webp) {
    return resolve(library, "WebPDemuxInternal", webp.demux) && resolve(library, "WebPDemuxDelete", webp.destroy) &&
           resolve(library, "WebPDemuxGetI", webp.number) && resolve(library, "WebPDemuxGetFrame", webp.frame) &&
           resolve(library, "WebPDemuxReleaseIterator", webp.release_frame) &&
           resolve(library, "WebPDemuxGetChunk", webp.chunk) &&
           resolve(library, "WebPDemuxReleaseChunkIterator", webp.release_chunk);
  });
}

constexpr const char* kParts = "it ends early, or its parts do not fit together";

std::string in_words(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY: return "no memory to decode it with";
    case VP8_STATUS_UNSUPPORTED_FEATURE: return "it has a feature that libwebp does not know";
    case VP8_STATUS_NOT_ENOUGH_DATA: return "it ends early";
    default: return "its bits are no WebP";
  }
}

}  // namespace

struct WebpPicture::Reading {
  const WebpLibrary* library = nullptr;
  const WebpDemuxLibrary* parts = nullptr;
  WebPDemuxer* file = nullptr;
  WebPIterator frame{};

  int64_t number(WebPFormatFeature of) const { return parts->number(file, of); }
  int orientation() const {
    WebPChunkIterator exif{};
    const bool there = parts->chunk(file, "EXIF", 1, &exif) != 0;
    const int turned = there ? exif_orientation({exif.chunk.bytes, exif.chunk.size}) : 1;
    parts->release_chunk(&exif);
    return turned;
  }
};

void WebpPicture::Close::operator()(Reading* reading) const {
  if (reading->file != nullptr) {
    reading->parts->release_frame(&reading->frame);
    reading->parts->destroy(reading->file);
  }
  delete reading;
}

WebpPicture::WebpPicture(std::span<const std::byte> file) : reading_(new Reading) {
  Reading& r = *reading_;
  r.library = find_once<WebpLibrary>(open_library, &stored.fault);
  if (r.library != nullptr) r.parts = find_once<WebpDemuxLibrary>(open_demux, &stored.fault);
  if (r.parts == nullptr) {
    stored.help = kInstallHelp;
    return;
  }
  const WebPData data{reinterpret_cast<const uint8_t*>(file.data()), file.size()};
  r.file = r.parts->demux(&data, 0, nullptr, WEBP_DEMUX_ABI_VERSION);
  if (r.file == nullptr || r.parts->frame(r.file, 1, &r.frame) == 0) {
    stored.fault = kParts;
    return;
  }
  stored.height = r.number(WEBP_FF_CANVAS_HEIGHT), stored.width = r.number(WEBP_FF_CANVAS_WIDTH);
  stored.orientation = r.orientation();
  const bool within = r.frame.x_offset >= 0 && r.frame.y_offset >= 0 && r.frame.width > 0 && r.frame.height > 0 &&
                      int64_t{r.frame.x_offset} + r.frame.width <= stored.width &&
                      int64_t{r.frame.y_offset} + r.frame.height <= stored.height;
  if (!within) stored.fault = kParts;
}

std::string WebpPicture::decode(const TakeRow& take) {
  constexpr size_t kChannels = 4;
  const Reading& r = *reading_;
  const size_t row = static_cast<size_t>(stored.width) * kChannels;
  std::vector<std::byte> canvas(row * static_cast<size_t>(stored.height));
  const size_t first = static_cast<size_t>(r.frame.y_offset) * row + static_cast<size_t>(r.frame.x_offset) * kChannels;
  WebPDecoderConfig config{};
  if (r.library->init(&config, WEBP_DECODER_ABI_VERSION) == 0) return "libwebp is another version than its header";
  config.output.colorspace = MODE_RGBA;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {.rgba = reinterpret_cast<uint8_t*>(canvas.data() + first),
                          .stride = static_cast<int>(row),
                          .size = canvas.size() - first};
  const VP8StatusCode status = r.library->decode(r.frame.fragment.bytes, r.frame.fragment.size, &config);
  if (status != VP8_STATUS_OK) return in_words(status);
  for (int64_t y = 0; y < stored.height; ++y) take(y, std::span(canvas).subspan(static_cast<size_t>(y) * row, row));
  return {};
}

PictureLibraryState webp_state() {
  std::string reason;
  const WebpLibrary* library = find_once<WebpLibrary>(open_library, &reason);
  if (library == nullptr || find_once<WebpDemuxLibrary>(open_demux, &reason) == nullptr)
    return {"libwebp", reason, false};
  const int version = library->version();
  return {"libwebp", fmt::format("{}.{}.{}", version >> 16, version >> 8 & 0xff, version & 0xff), true};
}

}  // namespace heddle::runtime::data
