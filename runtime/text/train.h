// Trains tokenizers: a text of tokenizer.json from counted words. The same words give the same bytes.
//
//   TrainRequest request{.kind = "bpe", .size = 8000, .special = {"<|endoftext|>"}};
//   train_tokenizer(request, texts)  ->  {"version": "1.0", ...}
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/diagnostic.h"

namespace heddle::runtime::text {

struct TrainRequest {
  std::string kind;                       // of train_kinds()
  uint32_t size = 0;                      // tokens, the special ones among them
  std::vector<std::string> special = {};  // have the first ids
};

// "bpe", "bytes", "characters", "unigram", "wordpiece".
std::vector<std::string> train_kinds();

// Throws UserError where a text is not UTF-8 or all are empty, and where `size` holds not even the characters.
std::string train_tokenizer(const TrainRequest& request, const std::vector<SourceFile>& texts);

// A tokenizer of characters, each a token behind the special ones; `unknown`, one of these, stands for all others, ""
// for none.
std::string character_tokenizer(const std::vector<std::string>& special, const std::vector<std::string>& characters,
                                const std::string& unknown);
// A tokenizer of words that spaces divide, each a token behind the special ones. It refuses other words.
std::string word_tokenizer(const std::vector<std::string>& special, const std::vector<std::string>& words);
// A token for each byte, behind the special ones.
std::string byte_tokenizer(const std::vector<std::string>& special);

// Words and how often each is there, sorted by their bytes.
using Counted = std::vector<std::pair<std::string, uint64_t>>;

// What byte pair training makes (Sennrich, Haddow and Birch 2016): tokens by id, and the pairs of ids that join.
struct TrainedPairs {
  std::vector<std::string> tokens;
  std::vector<std::pair<uint32_t, uint32_t>> merges;
};
// `alphabet` follows `special`. Of pairs that are equally frequent the one with the lowest ids joins first. `prefix` is
// that of characters which do not begin a word.
TrainedPairs train_pairs(const Counted& words, uint32_t size, const std::vector<std::string>& special,
                         const std::vector<std::string>& alphabet, const std::string& prefix);

// Tokens and their log probabilities, the most probable first: EM over all ways to part the words, and pruning of the
// tokens that lower the likelihood least (Kudo 2018, arXiv:1804.10959). Every character stays. `size` tokens at most.
std::vector<std::pair<std::string, double>> train_unigram(const Counted& words, uint32_t size);

}  // namespace heddle::runtime::text
