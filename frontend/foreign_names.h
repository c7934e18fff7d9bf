// What other frameworks call what models have here, and what stands in for what a model cannot have yet.
//
//   foreign_hint("Linear", layer_names())  ->  "'Linear' is called 'dense' here"
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace heddle::frontend {

// Empty where the word is none of theirs, or what it means is none of the candidates.
std::string foreign_hint(std::string_view word, const std::vector<std::string>& candidates);

// What to use instead of a name of the format that this version does not build.
std::string instead_of(std::string_view name);

}  // namespace heddle::frontend
