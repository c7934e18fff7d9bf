// Trains tokenizers: makes the text of a tokenizer.json from counted words. The same words give the same bytes.
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
  std::string kind;                       // one of train_kinds()
  uint32_t size = 0;                      // number of tokens, including the special ones
  std::vector<std::string> special = {};  // get the first ids
};

// "bpe", "bytes", "characters", "unigram", "wordpiece".
std::vector<std::string> train_kinds();

// Throws UserError where a text is not UTF-8, where all texts are empty, where `size` is too small for the characters,
// and where a special token is a token of the text, too.
std::string train_tokenizer(const TrainRequest& request, const std::vector<SourceFile>& texts);

// Makes a tokenizer in which each character is a token. Special tokens have the first ids. `unknown`: the special token
// for all other characters; "": none.
std::string character_tokenizer(const std::vector<std::string>& special, const std::vector<std::string>& characters,
                                const std::string& unknown);
// Makes a tokenizer in which each word between spaces is a token. Special tokens have the first ids. Other words are
// errors.
std::string word_tokenizer(const std::vector<std::string>& special, const std::vector<std::string>& words);
// Makes a tokenizer with a token for each byte. Special tokens have the first ids.
std::string byte_tokenizer(const std::vector<std::string>& special);

// Such a special token would take the place of the other, and the text could not be written any more.
UserError special_in_text(const std::string& token);

// Words and their counts, sorted by the bytes of the words.
using Counted = std::vector<std::pair<std::string, uint64_t>>;

// The result of byte pair training (Sennrich, Haddow and Birch 2016): tokens by id, and the pairs of ids that are
// merged.
struct TrainedPairs {
  std::vector<std::string> tokens;
  std::vector<std::pair<uint32_t, uint32_t>> merges;
};
// The ids of `alphabet` follow those of `special`. Of equally frequent pairs, the one with the lowest ids is merged
// first. `prefix` marks characters that do not begin a word.
TrainedPairs train_pairs(const Counted& words, uint32_t size, const std::vector<std::string>& special,
                         const std::vector<std::string>& alphabet, const std::string& prefix);

// Returns tokens and their log probabilities, the most probable first, at most `size`. The method is EM over all
// segmentations of the words, and pruning of the tokens whose loss lowers the likelihood least (Kudo 2018,
// arXiv:1804.10959). All single characters are kept.
std::vector<std::pair<std::string, double>> train_unigram(const Counted& words, uint32_t size);

}  // namespace heddle::runtime::text
