// WordCache: keeps the ids of pieces, since most words of a text occur several times.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::runtime::text {

class WordCache {
 public:
  // The result of `find`: the hash of a piece, and its ids where it is known. Valid until the next `add`.
  struct Place {
    uint64_t hash = 0;
    bool known = false;
    std::span<const uint32_t> ids = {};
  };
  static bool takes(std::string_view piece) { return piece.size() <= 128; }
  Place find(std::string_view piece) const;
  void add(std::string_view piece, uint64_t hash, std::span<const uint32_t> ids);

 private:
  struct Entry {
    uint64_t hash = 0;
    uint32_t text = 0, text_size = 0, ids = 0, count = 0;  // a piece may have no ids, so `there` marks used entries
    bool there = false;
  };
  size_t slot(std::string_view piece, uint64_t hash) const;
  std::string text_;
  std::vector<uint32_t> ids_;
  std::vector<Entry> table_;
  size_t count_ = 0;
};

}  // namespace heddle::runtime::text
