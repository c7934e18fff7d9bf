// Byte pair encoding (Sennrich, Haddow and Birch 2016): the characters of a piece are joined pair by pair, in the order
// of the merges.
//
//   merges "l o", "lo w":  "low" -> l o w -> lo w -> low
//
// A piece of n characters takes O(n log n).
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/part_def.h"

namespace heddle::runtime::text {

// A rule that joins two ids. Its rank is its place in the list.
struct Merge {
  uint32_t left, right, joined;
};

struct Bpe {
  Vocabulary vocabulary;
  std::vector<Merge> merges;
  std::optional<uint32_t> unknown;
  std::string prefix, suffix;        // of characters after the first of a piece; of the last one
  bool fuse_unknown = false;         // a run of characters without tokens becomes one unknown token
  bool ignore_merges = false;        // a piece that is a token as a whole is not merged
  std::vector<uint32_t> bytes = {};  // a token per byte, for characters without a token; empty: none
  std::set<std::string, std::less<>> special = {};
};
Model bpe_model(Bpe bpe);

// The merge of two tokens that are given by name. Throws UserError at `where` where the vocabulary lacks one of them or
// the joined token.
Merge read_merge(const Vocabulary& vocabulary, std::string_view left, std::string_view right, const std::string& prefix,
                 const Location& where);

}  // namespace heddle::runtime::text
