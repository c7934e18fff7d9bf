// Globs over the paths of parameters, used by `freeze`, groups of the optimizer, `regularize` and `constrain`.
//
//   "*.bias"  ->  fc1.bias, fc2.bias
#pragma once
#include <string>
#include <vector>

#include "frontend/instantiate/instantiate.h"

namespace heddle::frontend {

// Whether one of the patterns matches the path.
bool matches(const std::vector<Named>& patterns, const std::string& path);

// Whether no step updates the parameter: `freeze` matches it, or there is train.lora, which does not train it.
bool is_frozen(const Train& train, const Parameter& p);

std::vector<std::string> paths_of(const Instance& e, ir::Role role);

// Reports patterns that match nothing: "'fc.*' freezes no parameter".
void check_patterns(const std::vector<Named>& patterns, const Instance& e, const std::string& what,
                    Diagnostics& errors);

// Adds a warning for each regularizer, constraint and group that matches only frozen parameters.
void warn_of_frozen(const Train& train, const Instance& e, std::vector<Diagnostic>& warnings);

}  // namespace heddle::frontend
