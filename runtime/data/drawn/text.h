// Text columns of synthetic rows: a vocabulary, and rows of token ids.
//
//   const DrawnVocabulary& words() { static const auto all = DrawnVocabulary::of_words({"<pad>"}, {"the", "food"}); ... }
//   text_column("tokens", words, [](const SyntheticRow&) { return "the food"; })
//     -> tokens u8[5] {1, 2, 0, 0, 0}
//
// A text that is longer than its row is cut.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/data/synthetic.h"

namespace heddle::runtime::data {

// A vocabulary of characters, or of words that are separated by spaces. Named tokens have the first ids. The token with
// id 0 pads rows.
class DrawnVocabulary {
 public:
  static DrawnVocabulary of_characters(std::vector<std::string> named, std::string_view characters);
  static DrawnVocabulary of_words(std::vector<std::string> named, const std::vector<std::string>& words);

  // Every character or word of the text must be in the vocabulary.
  std::vector<uint8_t> encode(std::string_view text) const;
  uint8_t id(std::string_view token) const;
  // The vocabulary as a tokenizer.json.
  std::string tokenizer() const;

 private:
  DrawnVocabulary(std::vector<std::string> named, std::vector<std::string> tokens, bool words);
  std::vector<std::string> named_, tokens_;  // `tokens_` does not hold the named ones
  bool words_ = false;
  std::map<std::string, uint8_t, std::less<>> ids_;
};

// Returns the vocabulary. A function, so that registering a kind does not build its vocabulary.
using VocabularyOf = const DrawnVocabulary& (*)();
using DrawText = std::function<std::string(const SyntheticRow&)>;

// A column whose rows are [length] ids; 0 follows the text.
SyntheticColumn text_column(const std::string& source, VocabularyOf vocabulary, const DrawText& draw);
// A column that holds the number of ids in the input made of column `of`; where no input is, that of the whole text.
SyntheticColumn length_column(const std::string& source, const std::string& of, VocabularyOf vocabulary,
                              const DrawText& draw);

// Columns of text pairs, as the reader `parallel_text` makes them: "source"; "target", which begins with <begin>;
// "next", which ends with <end> and holds -100 after it; "source_length"; "target_length", which counts <begin>.
struct DrawnSide {
  VocabularyOf vocabulary;
  DrawText draw;
};
std::vector<SyntheticColumn> pair_columns(const DrawnSide& source, const DrawnSide& target);

// require_text_row throws UserError unless a row is [length]. row_length is the length of the input made of `source`; 0
// where no input is.
void require_text_row(const ReaderRequest& request, const ColumnRequest& c);
int64_t row_length(const ReaderRequest& request, std::string_view source);

}  // namespace heddle::runtime::data
