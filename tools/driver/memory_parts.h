// memory_parts: what a program's memory holds where its largest entry takes most.
//
//   state: parameters 40, optimizer 80     arena at %h.1.fc: gradients 40, activations 600, scratch 30, gaps 6
#pragma once
#include <string>
#include <vector>

#include "tools/driver/compile.h"

namespace heddle::driver {

struct MemoryPart {
  std::string name;  // "gradients"
  int64_t bytes = 0;
};

struct MemoryParts {
  std::string entry;               // whose arena is the largest
  std::string peak;                // what it computes when most is live: "h.1.fc"
  std::vector<MemoryPart> state;   // sum to the program's state_bytes
  std::vector<MemoryPart> arena;   // sum to its arena_bytes
  std::vector<MemoryPart> layers;  // of the activations, by the node whose results they are, the largest first
};

// Of a program and its planned module. `nodes`: the paths of the model's nodes.
MemoryParts memory_parts(const Compiled& compiled, const std::vector<std::string>& nodes);

}  // namespace heddle::driver
