// Columns of drawn rows that hold text: a vocabulary, and a row's text as its ids.
//
//   const DrawnVocabulary& words() { static const auto all = DrawnVocabulary::of_words({"<pad>"}, {"the", "food"}); ... }
//   text_column("tokens", words, [](const SyntheticRow&) { return "the food"; })
//     -> tokens u8[5] {1, 2, 0, 0, 0}
//
// What is longer than its row is cut.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/data/synthetic.h"

namespace heddle::runtime::data {

// Ids of characters, or of words that spaces divide. Named tokens come first; the first one, of id 0, fills rows up.
class DrawnVocabulary {
 public:
  static DrawnVocabulary of_characters(std::vector<std::string> named, std::string_view characters);
  static DrawnVocabulary of_words(std::vector<std::string> named, const std::vector<std::string>& words);

  // Every part of the text must have an id.
  std::vector<uint8_t> encode(std::string_view text) const;
  uint8_t id(std::string_view token) const;
  // As a tokenizer.json.
  std::string tokenizer() const;

 private:
  DrawnVocabulary(std::vector<std::string> named, std::vector<std::string> tokens, bool words);
  std::vector<std::string> named_, tokens_;  // the named ones are not in `tokens_`
  bool words_ = false;
  std::map<std::string, uint8_t, std::less<>> ids_;
};

// A kind is registered before vocabularies are needed: they are made by functions.
using VocabularyOf = const DrawnVocabulary& (*)();
using DrawText = std::function<std::string(const SyntheticRow&)>;

// A row [length] of ids, 0 behind the text.
SyntheticColumn text_column(const std::string& source, VocabularyOf vocabulary, const DrawText& draw);
// How many ids the input has that is made of `of`; of the whole text where there is none.
SyntheticColumn length_column(const std::string& source, const std::string& of, VocabularyOf vocabulary,
                              const DrawText& draw);

// Two texts as the reader `parallel_text` gives them: "source"; "target" behind <begin>; "next", which ends with <end>
// and is -100 behind it; "source_length" and "target_length", which counts <begin>.
struct DrawnSide {
  VocabularyOf vocabulary;
  DrawText draw;
};
std::vector<SyntheticColumn> pair_columns(const DrawnSide& source, const DrawnSide& target);

// A row [length] of at most so many elements, and how many those of `source` are: 0 where no input is made of it.
void require_text_row(const ReaderRequest& request, const ColumnRequest& c);
int64_t row_length(const ReaderRequest& request, std::string_view source);

}  // namespace heddle::runtime::data
