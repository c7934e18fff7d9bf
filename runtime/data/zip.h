// ZipArchive: reads zip archives as numpy.savez writes them. Members are stored or deflated; the 64-bit extension is
// read (PKWARE's APPNOTE 6.3.10). Sizes and positions are those of the directory at the end.
//
//   ZipArchive archive(path, "train.npz", where);
//   const ZipMember* x = archive.find("x.npy");
//   archive.content(*x)    // its bytes; UserError where they are not those that were written
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "ir/diagnostic.h"
#include "runtime/data/mapping.h"

namespace heddle::runtime::data {

struct ZipMember {
  std::string name;
  bool deflated = false;
  uint32_t crc = 0;
  int64_t stored_size = 0, size = 0;  // in the archive, and of the content
  int64_t begin = 0;                  // where the stored bytes begin in the archive
};

class ZipArchive {
 public:
  ZipArchive(const std::filesystem::path& file, std::string name, const Location& where);
  const ZipMember* find(std::string_view name) const;
  const std::vector<ZipMember>& members() const { return members_; }

  // The first bytes of the content, at most `size`.
  std::vector<std::byte> start(const ZipMember& member, int64_t size) const;
  // The whole content. Throws UserError where the checksum differs.
  std::vector<std::byte> content(const ZipMember& member) const;
  // Maps the content: a stored member in the archive itself, a deflated one in a temporary file. Also checks the
  // checksum.
  Mapping mapped(const ZipMember& member) const;

 private:
  [[noreturn]] void fail(const std::string& message, const std::string& help = {}) const;
  std::span<const std::byte> bytes(int64_t begin, int64_t size) const;  // of the archive; throws beyond its end
  uint64_t number(int64_t at, int width) const;                         // little-endian
  struct Directory {
    int64_t begin = 0, end = 0, members = 0;
  };
  Directory find_directory() const;
  int64_t read_member(int64_t at, int64_t end);  // reads an entry of the directory; returns where the next begins
  void read_long_sizes(int64_t at, int64_t end, ZipMember& member, int64_t& header) const;
  std::vector<std::byte> inflated(const ZipMember& member, int64_t size) const;
  // Decompresses piece by piece. room_for(from, to) returns where the bytes of this range go.
  template <class Room>
  void inflate_to(const ZipMember& member, int64_t size, const Room& room_for) const;
  void check(const ZipMember& member, std::span<const std::byte> content) const;

  std::filesystem::path file_;
  std::string name_;
  Location where_;
  Mapping archive_;
  std::vector<ZipMember> members_;
};

}  // namespace heddle::runtime::data
