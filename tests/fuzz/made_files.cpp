#include "tests/fuzz/made_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>
#include <zlib.h>

#include <stdexcept>

namespace heddle::testing {
namespace {

std::string little_endian(uint64_t v, int width) {
  std::string s;
  for (int i = 0; i < width; ++i) s += i < 8 ? static_cast<char>(v >> (8 * i) & 0xff) : '\0';
  return s;
}
std::string big_endian(uint64_t v) {
  std::string s;
  for (int shift = 24; shift >= 0; shift -= 8) s += static_cast<char>(v >> shift & 0xff);
  return s;
}
uLong checksum(const std::string& text) {
  return crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()));
}

// `bits` as deflateInit2 takes them: 15 + 16 is gzip, 15 zlib, -15 neither header nor checksum.
std::string deflated_as(const std::string& data, int bits) {
  std::string out(compressBound(data.size()) + 64, '\0');
  z_stream z{};
  EXPECT_EQ(deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  z.avail_in = static_cast<uInt>(data.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string png_chunk(const std::string& kind, const std::string& content) {
  return big_endian(content.size()) + kind + content + big_endian(checksum(kind + content));
}

}  // namespace

std::string idx_file(char type, size_t element, const std::vector<unsigned char>& dims) {
  std::string s{0, 0, type, static_cast<char>(dims.size())};
  size_t elements = 1;
  for (const unsigned char d : dims) {
    s += std::string{0, 0, 0, static_cast<char>(d)};
    elements *= d;
  }
  for (size_t i = 0; i < elements * element; ++i) s += static_cast<char>(i * 37);
  return s;
}

std::string npy_file(const std::string& header, size_t bytes) {
  std::string s = "\x93NUMPY\x01";
  s += '\0';
  s += static_cast<char>(header.size());
  s += '\0';
  return s + header + std::string(bytes, '\x3f');
}

std::string zip_file(const std::vector<std::pair<std::string, std::string>>& members, bool deflated) {
  const std::string method = little_endian(0, 2) + little_endian(deflated ? 8 : 0, 2) + little_endian(0, 4);
  std::string files, entries;
  for (const auto& [name, content] : members) {
    const std::string stored = deflated ? deflated_as(content, -15) : content;
    const std::string sizes =
        little_endian(checksum(content), 4) + little_endian(stored.size(), 4) + little_endian(content.size(), 4);
    entries += "PK\x01\x02" + little_endian(20, 2) + little_endian(20, 2) + method + sizes +
               little_endian(name.size(), 2) + little_endian(0, 12) + little_endian(files.size(), 4) + name;
    files += "PK\x03\x04" + little_endian(20, 2) + method + sizes + little_endian(name.size(), 2) +
             little_endian(0, 2) + name + stored;
  }
  return files + entries + "PK\x05\x06" + little_endian(0, 4) + little_endian(members.size(), 2) +
         little_endian(members.size(), 2) + little_endian(entries.size(), 4) + little_endian(files.size(), 4) +
         little_endian(0, 2);
}

std::string gzip(const std::string& data) { return deflated_as(data, 15 + 16); }

std::string png_file() {
  const std::string lines{0, 1, 2, 3, 0, 4, 5, 6};
  return std::string("\x89PNG\r\n\x1a\n") + png_chunk("IHDR", {0, 0, 0, 3, 0, 0, 0, 2, 8, 0, 0, 0, 0}) +
         png_chunk("IDAT", deflated_as(lines, 15)) + png_chunk("IEND", "");
}

std::string jpeg_file() {
  std::string jpeg = "\xff\xd8\xff\xdb";
  jpeg += std::string{0, 67, 0} + std::string(64, 1) + "\xff\xc0" + std::string{0, 11, 8, 0, 2, 0, 3, 1, 1, 17, 0};
  jpeg += "\xff\xc4" + std::string{0, 20, 0, 1} + std::string(15, 0) + std::string{0};
  jpeg += "\xff\xda" + std::string{0, 8, 1, 1, 0, 0, 63, 0} + std::string(4, '\x55') + "\xff\xd9";
  return jpeg;
}

std::string wav_file() {
  const auto word = [](uint32_t v) {
    return std::string{static_cast<char>(v), static_cast<char>(v >> 8), static_cast<char>(v >> 16),
                       static_cast<char>(v >> 24)};
  };
  std::string samples;
  for (int t = 0; t < 40; ++t) samples += word(static_cast<uint32_t>(t * 700 % 30011)).substr(0, 2);
  const std::string body = "WAVEfmt " + word(16) + std::string{1, 0, 1, 0} + word(8000) + word(16'000) +
                           std::string{2, 0, 16, 0} + "LIST" + word(4) + "INFO" + "data" + word(80) + samples;
  return "RIFF" + word(static_cast<uint32_t>(body.size())) + body;
}

std::string safetensors(const std::string& header, size_t data) {
  std::string s;
  for (size_t i = 0; i < 8; ++i) s += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return s + header + std::string(data, '\x3f');
}

std::string sealed(std::string content) {
  constexpr size_t kSeal = 16;
  if (content.size() < kSeal) return content;
  XXH128_canonical_t seal;
  XXH128_canonicalFromHash(&seal, XXH3_128bits(content.data(), content.size() - kSeal));
  content.replace(content.size() - kSeal, kSeal, reinterpret_cast<const char*>(seal.digest), kSeal);
  return content;
}

MemoryFile::MemoryFile() : descriptor_(memfd_create("fuzz", 0)), path_(fmt::format("/proc/self/fd/{}", descriptor_)) {
  EXPECT_GE(descriptor_, 0);
}
MemoryFile::~MemoryFile() { close(descriptor_); }

const std::string& MemoryFile::holding(const std::string& content) const {
  if (ftruncate(descriptor_, 0) != 0 ||
      pwrite(descriptor_, content.data(), content.size(), 0) != static_cast<ssize_t>(content.size()))
    throw std::runtime_error("cannot write to memory");
  return path_;
}

}  // namespace heddle::testing
