#include "runtime/data/sound_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sndfile.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>

#include "runtime/data/printable.h"
#include "runtime/files/file.h"

namespace heddle::runtime::data {
namespace {

constexpr int64_t kMostFileBytes = int64_t{1} << 31, kBlock = 1 << 16;
constexpr int kMostChunks = 1000;
// Programs that write into pipes do not know the length, and say this. A file of the type RF64 says it, too: its chunk
// "ds64" knows the length in 64 bits (EBU Tech 3306).
constexpr uint32_t kUnknownLength = 0xFFFFFFFF;

struct WavFile {
  const std::string& name;
  const Location& where;
  [[noreturn]] void fail(const std::string& message, const std::string& help = {}) const {
    throw UserError(where, fmt::format("{}: {}", name, message), help);
  }
};

constexpr const char* kConvert = "sox or ffmpeg makes one of it: sox FILE NEW.wav";
constexpr const char* kMadeAgain =
    "it was cut off, or not closed when it was written: record, copy or convert it again";

// What may stand where a part of an odd length ends, if the byte that fills it up is missing.
constexpr std::array kParts = {"data", "fact", "LIST", "cue ", "bext", "smpl", "PEAK", "JUNK", "id3 "};

// libsndfile reads a file that ends too early to where it ends, and says nothing. It also reads thirty other formats,
// which no file named a wav should reach.
void require_whole(const WavFile& wav, const std::filesystem::path& path) {
  const File file(path.string(), O_RDONLY | O_NONBLOCK);  // a pipe is refused, not waited for
  const int64_t size = file.size();
  if (size > kMostFileBytes) wav.fail("larger than 2 GiB", "cut it into shorter sounds");
  std::array<unsigned char, 12> head{};
  const auto reads = [&](size_t bytes, int64_t at) {
    return ::pread(file.descriptor(), head.data(), bytes, at) == static_cast<ssize_t>(bytes);
  };
  const auto number = [&](size_t at) {
    return static_cast<uint32_t>(head[at]) | static_cast<uint32_t>(head[at + 1]) << 8 |
           static_cast<uint32_t>(head[at + 2]) << 16 | static_cast<uint32_t>(head[at + 3]) << 24;
  };
  const auto says = [&](size_t at, const char* word) { return std::memcmp(head.data() + at, word, 4) == 0; };
  if (size == 0) wav.fail("the file is empty", kMadeAgain);
  if (!reads(12, 0) || !(says(0, "RIFF") || says(0, "RF64")) || !says(8, "WAVE")) wav.fail("not a wav file", kConvert);
  int64_t at = 12;
  uint64_t wide = kUnknownLength;  // of the samples, as ds64 says
  for (int chunk = 0; chunk < kMostChunks; ++chunk) {
    if (!reads(8, at)) wav.fail("the file ends before its samples", kMadeAgain);
    const uint32_t length = number(4);
    const std::string part(reinterpret_cast<const char*>(head.data()), 4);
    at += 8;
    if (says(0, "data")) {
      const uint64_t samples = length == kUnknownLength ? wide : length;
      if (samples != kUnknownLength && samples > static_cast<uint64_t>(size - at))
        wav.fail(
            fmt::format("the header says that {} bytes of samples follow, and the file has {}", samples, size - at),
            kMadeAgain);
      return;
    }
    // Behind eight bytes of the length of all: eight of the length of the samples.
    if (says(0, "ds64") && length >= 16 && reads(8, at + 8)) wide = number(0) | static_cast<uint64_t>(number(4)) << 32;
    at += int64_t{length};
    if (length % 2 == 0) continue;
    // No reader finds what follows: libsndfile, too, looks for it one byte further on.
    if (reads(4, at) && std::ranges::any_of(kParts, [&](const char* name) { return says(0, name); }))
      wav.fail(fmt::format("its part '{}' has {} bytes, and the one is missing that makes their number even",
                           printable(part), length),
               "the program that wrote it must add a byte of 0 there");
    ++at;
  }
  wav.fail(fmt::format("more than {} parts before its samples", kMostChunks), kConvert);
}

struct Close {
  void operator()(SNDFILE* file) const { sf_close(file); }
};

bool is_plain(int format) {
  constexpr std::array kTypes = {SF_FORMAT_WAV, SF_FORMAT_WAVEX, SF_FORMAT_RF64};
  constexpr std::array kCodes = {SF_FORMAT_PCM_U8, SF_FORMAT_PCM_16, SF_FORMAT_PCM_24, SF_FORMAT_PCM_32,
                                 SF_FORMAT_FLOAT,  SF_FORMAT_DOUBLE, SF_FORMAT_ALAW,   SF_FORMAT_ULAW};
  return std::ranges::count(kTypes, format & SF_FORMAT_TYPEMASK) > 0 &&
         std::ranges::count(kCodes, format & SF_FORMAT_SUBMASK) > 0;
}

}  // namespace

Sound read_sound(const std::filesystem::path& path, const std::string& name, const Location& where,
                 const SoundRequest& request) {
  const WavFile wav{name, where};
  require_whole(wav, path);
  SF_INFO info{};
  const std::unique_ptr<SNDFILE, Close> file(sf_open(path.c_str(), SFM_READ, &info));
  if (!file) wav.fail(fmt::format("not a wav file that can be read ({})", printable(sf_strerror(nullptr))), kConvert);
  if (!is_plain(info.format))
    wav.fail("its samples are compressed", "sox FILE -b 16 -e signed-integer NEW.wav writes them as numbers");
  if (info.samplerate != request.rate)
    wav.fail(fmt::format("{} samples a second, and the reader takes {}", info.samplerate, request.rate),
             fmt::format("sox FILE -r {} NEW.wav converts it; or say \"rate\": {} where all sounds have that",
                         request.rate, info.samplerate));
  if (info.channels > 1 && !request.mono)
    wav.fail(fmt::format("{} channels, and \"mono\" is false", info.channels),
             "leave \"mono\" away, and the sound is their mean");
  if (info.frames <= 0) wav.fail("it holds no samples", kMadeAgain);

  Sound sound{.samples = {}, .size = info.frames};
  const auto channels = static_cast<size_t>(info.channels);
  const int64_t wanted = std::min<int64_t>(info.frames, request.most);
  std::vector<double> block(static_cast<size_t>(std::max<int64_t>(kBlock / info.channels, 1)) * channels);
  while (std::ssize(sound.samples) < wanted) {
    const int64_t left = wanted - std::ssize(sound.samples), room = std::ssize(block) / info.channels;
    const sf_count_t got = sf_readf_double(file.get(), block.data(), std::min(left, room));
    if (got <= 0) wav.fail(fmt::format("damaged at sample {}", sound.samples.size()));
    for (size_t t = 0; t < static_cast<size_t>(got); ++t) {
      double sum = 0;
      for (size_t c = 0; c < channels; ++c) sum += block[t * channels + c];
      if (!std::isfinite(sum))
        wav.fail(fmt::format("sample {} is {}", sound.samples.size(), std::isnan(sum) ? "nan" : "infinite"),
                 "mend the file, or take it out");
      sound.samples.push_back(sum / static_cast<double>(channels));
    }
  }
  return sound;
}

}  // namespace heddle::runtime::data
