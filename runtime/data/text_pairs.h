// Rows that are pairs of texts: a source and what it becomes, as in translation.
//
//   "source"          ->  the text of the source
//   "target", "next"  ->  that of the target behind its begin; up to its end, and -100 behind it
//   "source_length", "target_length"
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "runtime/data/text_coder.h"

namespace heddle::runtime::data {

// What an input has of a pair.
struct PairPart {
  std::string side;     // "source" or "target": texts of one side have one vocabulary
  bool length = false;  // how many tokens it has, not the tokens
  TextShape shape;
};
// Nothing for a word that says no part.
std::optional<PairPart> pair_part(std::string_view word);
// What a token of the reader `parallel_text` is: "characters", "bytes" or "tokens".
std::string pair_unit(const ReaderRequest& request);

}  // namespace heddle::runtime::data
