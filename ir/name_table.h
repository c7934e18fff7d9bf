// NameTable: a hash table from the names of a graph to value indices. The names stay with their values. So a lookup
// mostly reads one slot and one name.
//
//   find(hash_of("x"), [&](int i) { return values[i].name == "x"; })  ->  3, or kNone
//
// An entry is a number of the caller's, 0 or more. The table uses open addressing with linear probing (Knuth, The Art
// of Computer Programming 3, algorithm 6.4 L). Erased entries stay as marks until the next rehash.
#pragma once
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace heddle::ir {

class NameTable {
 public:
  static constexpr int32_t kNone = -1;
  static uint32_t hash_of(std::string_view name) { return static_cast<uint32_t>(std::hash<std::string_view>{}(name)); }

  // The number with this hash for which is_it(number) holds, or kNone.
  template <class IsIt>
  int32_t find(uint32_t hash, const IsIt& is_it) const {
    const size_t at = slot(hash, is_it);
    return at == slots_.size() ? kNone : slots_[at].number;
  }
  void insert(uint32_t hash, int32_t number);  // the number's name must not be in the table
  template <class IsIt>
  void erase(uint32_t hash, const IsIt& is_it) {
    if (const size_t at = slot(hash, is_it); at != slots_.size()) slots_[at].number = kErased;
  }

 private:
  static constexpr int32_t kErased = -2;
  struct Slot {
    uint32_t hash = 0;
    int32_t number = kNone;
  };
  size_t next(size_t at) const { return (at + 1) & (slots_.size() - 1); }
  template <class IsIt>
  size_t slot(uint32_t hash, const IsIt& is_it) const {
    if (slots_.empty()) return 0;
    for (size_t at = hash & (slots_.size() - 1); slots_[at].number != kNone; at = next(at))
      if (slots_[at].hash == hash && slots_[at].number >= 0 && is_it(slots_[at].number)) return at;
    return slots_.size();
  }
  void rehash();

  std::vector<Slot> slots_;  // a power of two of them, at least a quarter of them empty
  size_t used_ = 0;          // entries and marks of erased ones
};

}  // namespace heddle::ir
