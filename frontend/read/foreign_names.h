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

// A name that is needed and not there, and what is said of it.
struct Needed {
  std::string name, remedy;
};
// The hint that the unknown `word` stands for one of these, which then leaves the list: that is one fault, not two. ""
// where it looks like none.
std::string suggest_needed(std::string_view word, std::vector<Needed>& needed);

}  // namespace heddle::frontend
