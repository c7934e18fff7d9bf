// Added tokens: tokens that a tokenizer has beside those of its model. They are found in the text before it is split.
//
//   "<mask>" with lstrip:  "a <mask> b" -> "a", <mask>, " b"
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/pattern.h"
#include "runtime/text/trie.h"

namespace heddle::runtime::text {

struct AddedToken {
  std::string text;
  uint32_t id = 0;
  bool special = false;                 // found in a text only where special tokens are asked for
  bool single_word = false;             // not inside a word
  bool lstrip = false, rstrip = false;  // includes the spaces before it, after it
  bool normalized = false;              // found in the normalized text, not in the original
};

class TokenFinder {
 public:
  void add(std::string_view text, const AddedToken& token);
  // Calls `part` for each part from left to right, with a token, or nullptr for plain text. Where several tokens begin
  // at a place, the longest is taken. `special`: also finds special tokens.
  void each(std::string_view text, bool special, const std::function<void(Range, const AddedToken*)>& part) const;

 private:
  std::vector<AddedToken> tokens_;
  Trie all_, plain_;
};

}  // namespace heddle::runtime::text
