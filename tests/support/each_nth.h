// Tests of minutes take a sample of their cases. The sweep takes all: it sets HEDDLE_ALL_CASES, or HEDDLE_PTX_ALL for those
// of the interpreter's that take longest.
#pragma once
#include <cstdlib>
#include <vector>

namespace heddle::testing {

// Each n-th of `all`, from the first on; all where the variable is set.
template <class Case>
std::vector<Case> each_nth(size_t n, const std::vector<Case>& all, const char* variable = "HEDDLE_ALL_CASES") {
  if (std::getenv(variable) != nullptr) return all;
  std::vector<Case> some;
  for (size_t i = 0; i < all.size(); i += n) some.push_back(all[i]);
  return some;
}

}  // namespace heddle::testing
