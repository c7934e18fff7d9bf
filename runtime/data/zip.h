// Zip archives, as numpy.savez writes them: members that are stored or deflated, with the 64-bit extension (PKWARE's
// APPNOTE 6.3.10). What the directory at the end says is what counts.
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
  int64_t stored_size = 0, size = 0;  // in the archive, and of what it holds
  int64_t begin = 0;                  // of the stored bytes in the archive
};

class ZipArchive {
 public:
  ZipArchive(const std::filesystem::path& file, std::string name, const Location& where);
  const ZipMember* find(std::string_view name) const;
  const std::vector<ZipMember>& members() const { return members_; }

  // At most the first `size` bytes.
  std::vector<std::byte> start(const ZipMember& member, int64_t size) const;
  // All of it, checked against its checksum.
  std::vector<std::byte> content(const ZipMember& member) const;
  // A stored member where it lies in the file, a deflated one in a temporary file; checked likewise.
  Mapping mapped(const ZipMember& member) const;

 private:
  [[noreturn]] void fail(const std::string& message, const std::string& help = {}) const;
  std::span<const std::byte> bytes(int64_t begin, int64_t size) const;  // of the archive, inside it
  uint64_t number(int64_t at, int width) const;                         // little-endian
  struct Directory {
    int64_t begin = 0, end = 0, members = 0;
  };
  Directory find_directory() const;
  int64_t read_member(int64_t at, int64_t end);  // of the directory; returns where the next one begins
  void read_long_sizes(int64_t at, int64_t end, ZipMember& member, int64_t& header) const;
  std::vector<std::byte> inflated(const ZipMember& member, int64_t size) const;
  // Asks room_for(from, to) where the bytes of that range are to go, piece after piece.
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
