// Tokens that a tokenizer adds to its model's, which are found in the text before it is split.
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
  bool special = false;                 // a user's text holds it only where the reader asks for special tokens
  bool single_word = false;             // not inside a word
  bool lstrip = false, rstrip = false;  // takes the spaces before it, behind it
  bool normalized = false;              // is found in the normalized text
};

class TokenFinder {
 public:
  void add(std::string_view text, const AddedToken& token);
  // Calls for each part from left to right: a token, or nullptr for plain text. Of the tokens that begin at a place the
  // longest is taken.
  void each(std::string_view text, bool special, const std::function<void(Range, const AddedToken*)>& part) const;

 private:
  std::vector<AddedToken> tokens_;
  Trie all_, plain_;
};

}  // namespace heddle::runtime::text
