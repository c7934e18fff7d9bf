// Globs over the paths of parameters, as `freeze`, groups of the optimizer, `regularize` and `constrain` have them.
//
//   "*.bias"  ->  fc1.bias, fc2.bias
#pragma once
#include <string>
#include <vector>

#include "frontend/instantiate/instantiate.h"

namespace heddle::frontend {

// Whether one of them matches.
bool matches(const std::vector<Named>& patterns, const std::string& path);

// Whether no step renews the parameter: `freeze` matches it, or it is none of those that train.lora trains.
bool is_frozen(const Train& train, const Parameter& p);

std::vector<std::string> paths_of(const Instance& e, ir::Role role);

// Patterns that match nothing are errors: "'fc.*' freezes no parameter".
void check_patterns(const std::vector<Named>& patterns, const Instance& e, const std::string& what,
                    Diagnostics& errors);

// Regularizers, constraints and groups that name frozen parameters alone, which no step renews: a warning each.
void warn_of_frozen(const Train& train, const Instance& e, std::vector<Diagnostic>& warnings);

}  // namespace heddle::frontend
