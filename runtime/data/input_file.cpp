#include "runtime/data/input_file.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

namespace heddle::runtime::data {

// Uses inflate instead of gzread, because gzread ignores bytes after the compressed data.
struct InputFile::Stored {
  std::FILE* file = nullptr;
  bool compressed = false;
  bool member_ended = false;
  std::vector<unsigned char> buffer = std::vector<unsigned char>(1 << 18);
  z_stream stream{};

  // Makes at least `count` bytes available where the file has them.
  void fill(size_t count) {
    if (stream.avail_in >= count) return;
    std::memmove(buffer.data(), stream.next_in, stream.avail_in);
    const size_t more = std::fread(buffer.data() + stream.avail_in, 1, buffer.size() - stream.avail_in, file);
    stream.next_in = buffer.data();
    stream.avail_in += static_cast<unsigned>(more);
  }
  bool at_member() {
    fill(2);
    return stream.avail_in >= 2 && stream.next_in[0] == 0x1f && stream.next_in[1] == 0x8b;
  }
};

bool named_gzip(std::string_view name) {
  return name.size() > 3 && name[name.size() - 3] == '.' && (name[name.size() - 2] | 0x20) == 'g' &&
         (name[name.size() - 1] | 0x20) == 'z';
}

void InputFile::Close::operator()(Stored* stored) const {
  if (stored->compressed) inflateEnd(&stored->stream);
  if (stored->file != nullptr) std::fclose(stored->file);
  delete stored;
}

InputFile::InputFile(const std::filesystem::path& file, std::string name, const Location& where)
    : name_(std::move(name)), where_(where), stored_(new Stored) {
  stored_->file = std::fopen(file.c_str(), "rb");
  if (stored_->file == nullptr) fail(fmt::format("cannot be opened: {}", std::strerror(errno)));
  std::setvbuf(stored_->file, nullptr, _IONBF, 0);
  stored_->stream.next_in = stored_->buffer.data();
  refuse_columns();
  if (!stored_->at_member()) {
    // The name promises compressed content: the file was unpacked on its way, or only renamed.
    if (named_gzip(name_) && stored_->stream.avail_in > 0) fail(kNoGzip, kNoGzipHelp);
    return;
  }
  constexpr int kGzipHeader = 16;
  if (inflateInit2(&stored_->stream, MAX_WBITS + kGzipHeader) != Z_OK) fail("no memory to inflate with");
  stored_->compressed = true;
}

// Recognises binary column formats, so that the error names the format instead of complaining about a byte.
void InputFile::refuse_columns() const {
  struct Format {
    std::string_view begins;
    const char *name, *pandas;
  };
  // No text begins like this: Parquet has a Thrift header after its name, the others are padded with zeros.
  constexpr std::array<Format, 3> kFormats = {{{"PAR1\x15", "a Parquet", "read_parquet"},
                                               {{"ARROW1\0\0", 8}, "an Arrow", "read_feather"},
                                               {{"FEA1\0", 5}, "a Feather", "read_feather"}}};
  stored_->fill(kFormats[1].begins.size());
  const std::string_view content(reinterpret_cast<const char*>(stored_->stream.next_in), stored_->stream.avail_in);
  for (const Format& format : kFormats)
    if (content.starts_with(format.begins))
      fail(fmt::format("{} file, which is not read", format.name),
           fmt::format(
               "convert it to csv: python3 -c 'import pandas; pandas.{}(\"{}\").to_csv(\"table.csv\", index=False)'",
               format.pandas, name_));
}

InputFile::InputFile(int descriptor, std::string name, const Location& where)
    : name_(std::move(name)), where_(where), descriptor_(descriptor) {}

bool InputFile::ready() const {
  if (descriptor_ < 0) return true;
  struct pollfd state {
    descriptor_, POLLIN, 0
  };
  return ::poll(&state, 1, 0) == 1;
}

void InputFile::fail(const std::string& message, const std::string& help) const {
  throw UserError(where_, fmt::format("{}: {}", name_, message), help);
}

size_t InputFile::read(std::byte* to, size_t size) {
  if (descriptor_ >= 0) {
    for (;;) {
      const ssize_t got = ::read(descriptor_, to, size);
      if (got >= 0) return static_cast<size_t>(got);
      if (errno != EINTR) fail(fmt::format("cannot be read: {}", std::strerror(errno)));
    }
  }
  size_t done = 0;
  while (done < size) {
    const size_t step = std::min<size_t>(size - done, 1 << 26);
    const size_t got = stored_->compressed ? inflate_into(to + done, step) : read_stored(to + done, step);
    if (got == 0) break;
    done += got;
  }
  return done;
}

size_t InputFile::read_stored(std::byte* to, size_t size) {
  stored_->fill(1);
  const size_t got = std::min<size_t>(size, stored_->stream.avail_in);
  std::memcpy(to, stored_->stream.next_in, got);
  stored_->stream.next_in += got;
  stored_->stream.avail_in -= static_cast<unsigned>(got);
  if (got == 0 && std::ferror(stored_->file) != 0) fail(fmt::format("cannot be read: {}", std::strerror(errno)));
  return got;
}

// Decompresses at least one byte; returns 0 at the end of the file. A file may hold several compressed members.
size_t InputFile::inflate_into(std::byte* to, size_t size) {
  z_stream& stream = stored_->stream;
  stream.next_out = reinterpret_cast<unsigned char*>(to);
  stream.avail_out = static_cast<unsigned>(size);
  while (stream.avail_out == size) {
    stored_->fill(1);
    if (stored_->member_ended) {
      if (stream.avail_in == 0) break;
      if (!stored_->at_member())
        fail("bytes follow the compressed data", "the file is damaged, or two files were joined: compress it again");
      inflateReset(&stream);
      stored_->member_ended = false;
    }
    if (std::ferror(stored_->file) != 0) fail(fmt::format("cannot be read: {}", std::strerror(errno)));
    if (stream.avail_in == 0) fail("compressed data ends early");
    const int code = inflate(&stream, Z_NO_FLUSH);
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
      fail(fmt::format("compressed data is damaged ({})", stream.msg == nullptr ? "no reason given" : stream.msg));
    stored_->member_ended = code == Z_STREAM_END;
  }
  return size - stream.avail_out;
}

}  // namespace heddle::runtime::data
