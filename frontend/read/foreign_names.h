// Names of other frameworks, for hints in error messages.
//
//   foreign_hint("Linear", layer_names())  ->  "'Linear' is called 'dense' here"
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace heddle::frontend {

// A row of the table.
struct ForeignName {
  std::vector<std::string_view> names;  // names in other frameworks, in the form of plain_word
  std::vector<std::string_view> ours;   // names in Heddle; the first one that is valid in the context is suggested
  std::string_view advice = {};         // what to write, if a name alone is not enough
};
const std::vector<ForeignName>& foreign_names();

// The word in lower case, without '_', '-' and '.'.
std::string plain_word(std::string_view word);

// A hint for a word of another framework. Empty if the word is unknown, or its name here is not among the candidates.
std::string foreign_hint(std::string_view word, const std::vector<std::string>& candidates);

// A required name that is absent, and the remedy in its error message.
struct Needed {
  std::string name, remedy;
};
// If the unknown `word` looks like one of the required names, returns a hint and removes that name from the list, so
// that only one fault is reported. Otherwise returns "".
std::string suggest_needed(std::string_view word, std::vector<Needed>& needed);

}  // namespace heddle::frontend
