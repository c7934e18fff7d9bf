// memory_parts: breaks down a program's memory at the peak of its largest entry.
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
  std::string entry;               // the entry with the largest arena
  std::string peak;                // what it computes at the peak: "h.1.fc"
  std::vector<MemoryPart> state;   // sum to the program's state_bytes
  std::vector<MemoryPart> arena;   // sum to its arena_bytes
  std::vector<MemoryPart> layers;  // activations by the node that makes them, the largest first
};

// `compiled` must hold its planned module. `nodes`: the paths of the model's nodes.
MemoryParts memory_parts(const Compiled& compiled, const std::vector<std::string>& nodes);

}  // namespace heddle::driver
