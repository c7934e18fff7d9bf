// Checks many random graphs: several in one program, since each program costs one call of the system compiler, and each
// batch in a child process. A graph that fails is checked again alone, and reported with its number.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tests/random/check.h"
#include "tests/random/generate.h"

namespace heddle::testing {

// All checks of one module in a child process; `stage` is "crash" where it did not end. Empty: it is right.
std::vector<Fault> check_alone(const ir::Module& m);

struct BatchResult {
  std::vector<std::pair<uint64_t, Fault>> faults;  // by the graph's number
  std::map<Pair, int> covered;          // pairs of which the second's result, or what comes from it, was compared
  int64_t elements = 0, unbounded = 0;  // compared; those of them that may be anything
};
BatchResult check_batch(const std::vector<uint64_t>& numbers);

}  // namespace heddle::testing
