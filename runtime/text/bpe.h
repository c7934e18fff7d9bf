// Byte pair encoding (Sennrich, Haddow and Birch 2016): a piece's characters, joined pair by pair in the order of the
// merges.
//
//   merges "l o", "lo w":  "low" -> l o w -> lo w -> low
//
// One piece of n characters takes O(n log n).
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/part_def.h"

namespace heddle::runtime::text {

// What joins two ids. Its rank is its place in the list.
struct Merge {
  uint32_t left, right, joined;
};

struct Bpe {
  Vocabulary vocabulary;
  std::vector<Merge> merges;
  std::optional<uint32_t> unknown;
  std::string prefix, suffix;        // of characters that do not begin a piece, and of the last one
  bool fuse_unknown = false;         // one unknown for a run of characters that have no token
  bool ignore_merges = false;        // a piece that is a token is that token
  std::vector<uint32_t> bytes = {};  // the tokens of bytes that stand for other characters; empty: there are none
  std::set<std::string, std::less<>> special = {};
};
Model bpe_model(Bpe bpe);

// The merge of two tokens by their names; throws UserError at `where` where the vocabulary lacks one, or what it makes.
Merge read_merge(const Vocabulary& vocabulary, std::string_view left, std::string_view right, const std::string& prefix,
                 const Location& where);

}  // namespace heddle::runtime::text
