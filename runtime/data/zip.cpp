#include "runtime/data/zip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "runtime/data/printable.h"

namespace heddle::runtime::data {
namespace {

constexpr uint64_t kEnd = 0x06054b50, kLongEnd = 0x06064b50, kLongEndPlace = 0x07064b50, kEntry = 0x02014b50,
                   kHeader = 0x04034b50;
constexpr int64_t kEndBytes = 22, kLongEndPlaceBytes = 20, kLongEndBytes = 56, kEntryBytes = 46, kHeaderBytes = 30;
constexpr int64_t kMostMembers = 100'000, kMostBytes = int64_t{1} << 46;
constexpr uint64_t kLong16 = 0xffff, kLong32 = 0xffffffff;  // "see the 64-bit field"

struct Inflate {
  z_stream stream{};
  bool ready = inflateInit2(&stream, -MAX_WBITS) == Z_OK;
  Inflate() = default;
  Inflate(const Inflate&) = delete;
  Inflate& operator=(const Inflate&) = delete;
  ~Inflate() { inflateEnd(&stream); }
};

}  // namespace

ZipArchive::ZipArchive(const std::filesystem::path& file, std::string name, const Location& where)
    : file_(file), name_(std::move(name)), where_(where) {
  std::error_code error;
  const auto size = static_cast<int64_t>(std::filesystem::file_size(file, error));
  if (error) fail(error.message());
  if (size < kEndBytes) fail(fmt::format("not a zip archive: {} bytes", size));
  archive_ = Mapping(file, name_, where, 0, size);
  const Directory directory = find_directory();
  int64_t at = directory.begin;
  for (int64_t i = 0; i < directory.members; ++i) at = read_member(at, directory.end);
}

void ZipArchive::fail(const std::string& message, const std::string& help) const {
  throw UserError(where_, fmt::format("{}: {}", name_, message), help);
}

std::span<const std::byte> ZipArchive::bytes(int64_t begin, int64_t size) const {
  const int64_t all = std::ssize(archive_.bytes());
  if (begin < 0 || size < 0 || begin > all || size > all - begin)
    fail("the archive is damaged: it points behind its end");
  return archive_.bytes().subspan(static_cast<size_t>(begin), static_cast<size_t>(size));
}

uint64_t ZipArchive::number(int64_t at, int width) const {
  uint64_t value = 0;
  const std::span<const std::byte> from = bytes(at, width);
  for (int i = width; i-- > 0;) value = value << 8 | std::to_integer<uint64_t>(from[static_cast<size_t>(i)]);
  return value;
}

// The last record, which a comment of up to 64 KiB may follow; it leads to the directory, or to a
// longer form of itself.
ZipArchive::Directory ZipArchive::find_directory() const {
  const int64_t size = std::ssize(archive_.bytes());
  int64_t end = size - kEndBytes;
  const int64_t first = std::max<int64_t>(0, end - 0xffff);
  while (end >= first &&
         !(number(end, 4) == kEnd && end + kEndBytes + static_cast<int64_t>(number(end + 20, 2)) == size))
    --end;
  if (end < first) fail("not a zip archive, or cut off: its directory is missing");
  uint64_t members = number(end + 10, 2), bytes_of = number(end + 12, 4), begin = number(end + 16, 4);
  if (members == kLong16 || bytes_of == kLong32 || begin == kLong32) {
    const int64_t place = end - kLongEndPlaceBytes;
    if (place >= 0 && number(place, 4) == kLongEndPlace) {
      const auto at = static_cast<int64_t>(number(place + 8, 8));
      bytes(at, kLongEndBytes);
      if (number(at, 4) != kLongEnd) fail("the archive is damaged: its long directory is not where it should be");
      members = number(at + 32, 8), bytes_of = number(at + 40, 8), begin = number(at + 48, 8);
    }
  }
  if (members > kMostMembers) fail(fmt::format("{} members, at most {} are read", members, kMostMembers));
  const auto all = static_cast<uint64_t>(size);
  if (begin > all || bytes_of > all - begin) fail("the archive is damaged: its directory lies behind its end");
  return {.begin = static_cast<int64_t>(begin),
          .end = static_cast<int64_t>(begin + bytes_of),
          .members = static_cast<int64_t>(members)};
}

int64_t ZipArchive::read_member(int64_t at, int64_t end) {
  if (at > end - kEntryBytes || number(at, 4) != kEntry)
    fail("the archive is damaged: a member of its directory is none");
  const uint64_t flags = number(at + 8, 2), method = number(at + 10, 2);
  const auto name_size = static_cast<int64_t>(number(at + 28, 2)), extra = static_cast<int64_t>(number(at + 30, 2)),
             comment = static_cast<int64_t>(number(at + 32, 2));
  const int64_t next = at + kEntryBytes + name_size + extra + comment;
  if (next > end) fail("the archive is damaged: a member of its directory is cut off");
  ZipMember member;
  const std::span<const std::byte> name = bytes(at + kEntryBytes, name_size);
  member.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
  if ((flags & 1) != 0) fail(fmt::format("'{}' is encrypted", printable(member.name)));
  if (method != 0 && method != 8)
    fail(fmt::format("'{}' is compressed by method {}, expected stored or deflated", printable(member.name), method),
         "numpy.savez and numpy.savez_compressed write what is read here");
  member.deflated = method == 8;
  member.crc = static_cast<uint32_t>(number(at + 16, 4));
  member.stored_size = static_cast<int64_t>(number(at + 20, 4)), member.size = static_cast<int64_t>(number(at + 24, 4));
  auto header = static_cast<int64_t>(number(at + 42, 4));
  read_long_sizes(at + kEntryBytes + name_size, at + kEntryBytes + name_size + extra, member, header);
  bytes(header, kHeaderBytes);
  if (number(header, 4) != kHeader)
    fail(fmt::format("the archive is damaged: '{}' is not where it should be", printable(member.name)));
  member.begin = header + kHeaderBytes + static_cast<int64_t>(number(header + 26, 2) + number(header + 28, 2));
  bytes(member.begin, member.stored_size);
  if (member.size < 0 || member.size > kMostBytes || (!member.deflated && member.size != member.stored_size))
    fail(fmt::format("the archive is damaged: '{}' has an impossible size", printable(member.name)));
  if (find(member.name) != nullptr) fail(fmt::format("the archive has '{}' twice", printable(member.name)));
  members_.push_back(std::move(member));
  return next;
}

// Extra field 1 holds, in this order, the sizes and the place that do not fit in 32 bits.
void ZipArchive::read_long_sizes(int64_t at, int64_t end, ZipMember& member, int64_t& header) const {
  while (at + 4 <= end) {
    const uint64_t kind = number(at, 2);
    const int64_t next = at + 4 + static_cast<int64_t>(number(at + 2, 2));
    if (next > end) fail("the archive is damaged: an extra field is cut off");
    at += 4;
    if (kind == 1)
      for (int64_t* field : {&member.size, &member.stored_size, &header}) {
        if (*field != static_cast<int64_t>(kLong32)) continue;
        if (at + 8 > next) fail("the archive is damaged: an extra field is cut off");
        *field = static_cast<int64_t>(number(at, 8)), at += 8;
      }
    at = next;
  }
}

const ZipMember* ZipArchive::find(std::string_view name) const {
  const auto it = std::ranges::find(members_, name, &ZipMember::name);
  return it == members_.end() ? nullptr : &*it;
}

template <class Room>
void ZipArchive::inflate_to(const ZipMember& member, int64_t size, const Room& room_for) const {
  constexpr int64_t kPiece = int64_t{1} << 26;
  const std::span<const std::byte> from = bytes(member.begin, member.stored_size);
  Inflate in;
  if (!in.ready) fail("no memory to inflate with");
  int64_t read = 0, made = 0;
  int code = Z_OK;
  while (made < size && code == Z_OK) {
    const int64_t room = std::min(kPiece, size - made);
    std::byte* to = room_for(made, made + room);
    if (in.stream.avail_in == 0) {
      in.stream.avail_in = static_cast<uInt>(std::min(kPiece, std::ssize(from) - read));
      in.stream.next_in =
          const_cast<Bytef*>(reinterpret_cast<const Bytef*>(from.data() + read));  // NOLINT: zlib reads it
      read += in.stream.avail_in;
    }
    in.stream.avail_out = static_cast<uInt>(room), in.stream.next_out = reinterpret_cast<Bytef*>(to);
    code = inflate(&in.stream, Z_NO_FLUSH);
    made += room - in.stream.avail_out;
    if (code == Z_BUF_ERROR && read == std::ssize(from)) break;
    if (code == Z_BUF_ERROR) code = Z_OK;
  }
  if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
    fail(fmt::format("'{}': compressed data is damaged", printable(member.name)));
  if (made < size) fail(fmt::format("'{}': compressed data ends early", printable(member.name)));
}

// Memory grows with the bytes that the archive really has, so a wrong size cannot make it allocate much.
std::vector<std::byte> ZipArchive::inflated(const ZipMember& member, int64_t size) const {
  std::vector<std::byte> out;
  inflate_to(member, size, [&](int64_t from, int64_t to) {
    out.resize(static_cast<size_t>(to));
    return out.data() + from;
  });
  return out;
}

std::vector<std::byte> ZipArchive::start(const ZipMember& member, int64_t size) const {
  const int64_t n = std::min(size, member.size);
  if (member.deflated) return inflated(member, n);
  const std::span<const std::byte> stored = bytes(member.begin, n);
  return {stored.begin(), stored.end()};
}

void ZipArchive::check(const ZipMember& member, std::span<const std::byte> content) const {
  const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  if (crc != member.crc) fail(fmt::format("'{}' is damaged: its checksum differs", printable(member.name)));
}

std::vector<std::byte> ZipArchive::content(const ZipMember& member) const {
  std::vector<std::byte> all = start(member, member.size);
  check(member, all);
  return all;
}

Mapping ZipArchive::mapped(const ZipMember& member) const {
  if (!member.deflated) {
    check(member, bytes(member.begin, member.size));
    return archive_.part(member.begin, member.size);
  }
  // The temporary file gets the size in the directory. So that size is compared with the most that deflate can make:
  // 258 bytes from 2 bits.
  constexpr int64_t kMostGrowth = 1032;
  if (member.size / kMostGrowth > member.stored_size)
    fail(fmt::format("the archive is damaged: '{}' has an impossible size", printable(member.name)));
  Mapping all = Mapping::scratch(member.size);
  inflate_to(member, member.size, [&](int64_t from, int64_t) { return all.writable() + from; });
  check(member, all.bytes());
  return all;
}

}  // namespace heddle::runtime::data
