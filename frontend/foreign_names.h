// What other frameworks call what models have here.
//
//   foreign_hint("Linear", layer_names())  ->  "'Linear' is called 'dense' here"
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace heddle::frontend {

// A row of the one table: names as plain_word gives them; what they are called here, of which the first that may stand
// there is meant; and, where that is not a name alone, what to write.
struct ForeignName {
  std::vector<std::string_view> names;
  std::vector<std::string_view> ours;
  std::string_view advice = {};
};
const std::vector<ForeignName>& foreign_names();

// In lower case, without '_', '-' and '.'.
std::string plain_word(std::string_view word);

// Empty where the word is none of theirs, or what it means is none of the candidates.
std::string foreign_hint(std::string_view word, const std::vector<std::string>& candidates);

// The hint that `word` stands for the one name that is needed and not there; "" where it does not look like it.
std::string suggest_needed(std::string_view word, const std::string& needed);

}  // namespace heddle::frontend
