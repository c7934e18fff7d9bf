// Vocabulary: finds tokens by id and ids by token. All tokens are in one string, with one hash table.
//
//   vocabulary.find("the") -> 262,  vocabulary.token(262) -> "the"
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/json_tree.h"

namespace heddle::runtime::text {

class Vocabulary {
 public:
  // Adds a token. Returns false where the token or the id exists. Ids may come in any order.
  bool add(std::string_view token, uint32_t id);
  std::optional<uint32_t> find(std::string_view token) const;
  bool holds(uint32_t id) const { return id < places_.size() && places_[id].there; }
  std::string_view token(uint32_t id) const;                               // `id` must be held
  uint32_t size() const { return static_cast<uint32_t>(places_.size()); }  // one more than the last id
  size_t longest() const { return longest_; }                              // bytes of the longest token

 private:
  struct Place {
    uint32_t begin = 0, size = 0;
    bool there = false;
  };
  size_t slot(std::string_view token) const;
  void grow();
  std::string text_;
  std::vector<Place> places_;
  std::vector<uint32_t> table_;  // id + 1, open addressing
  size_t count_ = 0, longest_ = 0;
};

// Reads {"the": 262, ...}. Throws UserError at a token or an id that is given twice, and at an id out of range.
Vocabulary read_vocabulary(const JsonValue& object);

// Throws UserError at `where` where a token is longer than 1024 bytes: searching for the longest token would take too
// long.
void require_short(std::string_view token, const Location& where);

// The ids of the tokens <0x00> to <0xFF>. Throws UserError at `where` where the vocabulary lacks one.
std::vector<uint32_t> byte_tokens(const Vocabulary& vocabulary, const Location& where);

}  // namespace heddle::runtime::text
