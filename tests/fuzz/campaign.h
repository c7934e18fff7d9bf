// A fuzz campaign: a target is called with many mutated inputs, in child processes, so that a crash, an abort or a hang
// is a failure with its input at hand and not the end of the test.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heddle::testing {

struct Campaign {
  std::string name;
  std::vector<std::string> corpus;
  bool binary = false;
  bool quiet = false;  // what the target prints is not shown
  // Takes an input in; a UserError is an answer. Anything else that ends the call is a failure.
  std::function<void(const std::string&)> target;
};

// Cases: $HEDDLE_FUZZ_CASES, else `cases`; the first of them has the number $HEDDLE_FUZZ_FIRST,
// else 0. Inputs that fail are written to the working directory.
void run(const Campaign& campaign, int64_t cases);

}  // namespace heddle::testing
