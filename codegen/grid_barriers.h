// Where the blocks of a persistent kernel meet: as seldom as what its steps touch allows. Steps of one phase touch nothing that
// another one of it writes, so they run side by side. A loop is one step of the list around it, and has phases of its own.
//
//   a(x -> y); loop 8 {b(y -> h); c(h -> y+64t)}; d(z -> w)
//     ->   {a} meet, {loop: {b} meet, {c} meet; d} meet
#pragma once
#include <cstdint>
#include <vector>

#include "codegen/program.h"

namespace heddle::codegen {

struct GridPhase {
  std::vector<size_t> steps;  // of the list, as indices
  bool meets = true;          // all blocks behind it
};
struct GridPhases {
  std::vector<GridPhase> phases;
  std::vector<GridPhases> loops;  // of each step of the list; empty for steps that are no loops
};

// `turns` are those of the loops around the list, the outermost first: none for an entry's steps, which are executed again and again,
// so that the last phase meets. A turn's last phase meets if the next turn needs what it did.
GridPhases grid_phases(const std::vector<Step>& steps, const std::vector<int64_t>& turns = {});

// One writes what the other one reads or writes: both in the same turn of all loops around them, or `b` so many turns of the innermost
// one later.
bool conflict(const Step& a, const Step& b, const std::vector<int64_t>& turns, int64_t later = 0);

// That one run of the list meets at, all turns of its loops counted.
int64_t barriers(const std::vector<Step>& steps, const GridPhases& phases);

// Whether the last thing that the list does is to meet.
bool ends_with_barrier(const std::vector<Step>& steps, const GridPhases& phases);

}  // namespace heddle::codegen
