// Trie: finds all tokens that a text begins with. It is one hash table keyed by node and byte.
//
//   trie.each_prefix("there", f)  calls f(3, id of "the"), f(5, id of "there")
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle::runtime::text {

class Trie {
 public:
  // Adds a token. Where it exists, its id is replaced.
  void add(std::string_view token, uint32_t id) {
    uint32_t node = 0;
    for (const char c : token) {
      if (edges_.size() < 2 * (count_ + 1)) grow();
      Edge& edge = edges_[slot(key(node, c))];
      if (edge.key == 0) {
        edge = {key(node, c), static_cast<uint32_t>(ids_.size())};
        ids_.push_back(kNone);
        ++count_;
      }
      node = edge.to;
    }
    ids_[node] = id;
  }

  // Calls found(length, id) for each token that `text` begins with, from the shortest to the longest.
  template <class Found>
  void each_prefix(std::string_view text, Found found) const {
    uint32_t node = 0;
    for (size_t i = 0; i < text.size() && !edges_.empty(); ++i) {
      const Edge& edge = edges_[slot(key(node, text[i]))];
      if (edge.key == 0) return;
      node = edge.to;
      if (ids_[node] != kNone) found(i + 1, ids_[node]);
    }
  }
  bool empty() const { return count_ == 0; }

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  struct Edge {
    uint64_t key = 0;  // 0: free
    uint32_t to = 0;
  };
  static uint64_t key(uint32_t node, char c) { return ((uint64_t{node} + 1) << 8) | static_cast<unsigned char>(c); }
  size_t slot(uint64_t key) const {
    const size_t mask = edges_.size() - 1;
    size_t at = (key * 0x9e3779b97f4a7c15ULL) >> 32 & mask;
    while (edges_[at].key != 0 && edges_[at].key != key) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<Edge> old(edges_.empty() ? 64 : edges_.size() * 2);
    old.swap(edges_);
    for (const Edge& edge : old)
      if (edge.key != 0) edges_[slot(edge.key)] = edge;
  }
  std::vector<Edge> edges_;
  std::vector<uint32_t> ids_ = {kNone};  // by node
  size_t count_ = 0;
};

}  // namespace heddle::runtime::text
