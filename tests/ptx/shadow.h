// Shadow memory: of each place who wrote it last in this launch, and who read it since.
//
// Memory is followed in words of four bytes, a page in single bytes from its first narrower access on.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "tests/ptx/order.h"

namespace heddle::ptx {

// Sets of readers that no order lies between, shared by all places that have the same one: weights that 132 blocks
// have read need one number each.
class ReaderSets {
 public:
  uint32_t single(Stamp s);
  // The set with one more reader.
  uint32_t with(uint32_t set, Stamp s);
  Stamp newest(uint32_t set) const { return nodes_[set].reader; }
  // Whether f is true of each reader.
  template <class F>
  bool all(uint32_t set, F f) const {
    for (; set != 0; set = nodes_[set].rest)
      if (!f(nodes_[set].reader)) return false;
    return true;
  }

 private:
  struct Node {
    uint32_t rest = 0;
    Stamp reader;
  };
  struct Key {
    uint64_t set = 0, stamp = 0;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& k) const { return (k.set * 0x9e3779b97f4a7c15U) ^ (k.stamp * 0xff51afd7ed558ccdU); }
  };
  uint32_t node(uint32_t rest, Stamp s);
  uint32_t joined(uint32_t set, Stamp s);

  std::vector<Node> nodes_ = {{}};  // 0: the empty set
  std::unordered_map<Key, uint32_t, Hash> nodes_by_key_, joined_by_key_;
  Key last_;
  uint32_t last_result_ = 0;
};

struct Cell {
  Stamp write;
  uint64_t read = 0;  // a Stamp's bits, or the number of a set and the highest bit
};

enum class Conflict { none, read_after_write, write_after_write, write_after_read, unwritten, in_flight };
struct Judgement {
  Conflict conflict = Conflict::none;
  Stamp other;
  bool written = false;  // by this launch, before this access
};

class Shadow {
 public:
  // `initial`: whether bytes count as written before the launch.
  Shadow(uint64_t bytes, bool initial) : pages_((bytes + kPage - 1) / kPage), initial_(initial) {}

  Judgement read(uint64_t at, uint32_t bytes, uint32_t thread, Use use, const BlockOrder& order, ReaderSets& sets);
  Judgement write(uint64_t at, uint32_t bytes, uint32_t thread, Use use, const BlockOrder& order, ReaderSets& sets);
  // What cp.async wrote is there for its thread.
  void land(uint64_t at, uint32_t bytes, uint32_t thread, const BlockOrder& order);

 private:
  static constexpr uint64_t kPage = 4096;
  struct Page {
    uint32_t granule = 4;
    std::vector<Cell> cells;
  };
  // The cells of the access: first and one behind the last.
  std::pair<Cell*, Cell*> cells(uint64_t at, uint32_t bytes);
  static void split(Page& page);

  std::vector<Page> pages_;
  bool initial_;
};

}  // namespace heddle::ptx
