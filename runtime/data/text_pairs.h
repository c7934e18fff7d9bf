// Parts of rows that are pairs of texts: a source and a target, as in translation.
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

// The part of a pair that an input holds.
struct PairPart {
  std::string side;     // "source" or "target": each side has one vocabulary
  bool length = false;  // the number of tokens instead of the tokens
  TextShape shape;
};
// Returns nothing where the word names no part.
std::optional<PairPart> pair_part(std::string_view word);
// The unit of text of the reader `parallel_text`: "characters", "bytes" or "tokens".
std::string pair_unit(const ReaderRequest& request);

}  // namespace heddle::runtime::data
