// grid_phases: decides where a persistent kernel needs barriers of the whole grid, as few as the memory accesses of its
// steps allow. It divides a list of steps into phases with a barrier between them. No step of a phase writes memory
// that another step of the phase touches, so the steps of a phase run concurrently. A loop is one step of the list
// around it, and has phases of its own.
//
//   a(x -> y); loop 8 {b(y -> h); c(h -> y+64t)}; d(z -> w)
//     ->   {a} meet, {loop: {b} meet, {c} meet; d} meet
#pragma once
#include <cstdint>
#include <vector>

#include "codegen/program.h"

namespace heddle::codegen {

struct GridPhase {
  std::vector<size_t> steps;  // indices into the list
  bool meets = true;          // whether a barrier follows
};
struct GridPhases {
  std::vector<GridPhase> phases;
  std::vector<GridPhases> loops;  // by step of the list; empty for steps that are no loops
};

// The phases of a list. `turns` are the counts of the loops around it, the outermost first. The steps of an entry have
// no loop around them; they are executed repeatedly, so a barrier follows their last phase. The last phase of a loop's
// body has a barrier only if it conflicts with the next turn.
GridPhases grid_phases(const std::vector<Step>& steps, const std::vector<int64_t>& turns = {});

// Whether one step writes memory that the other one touches, if `b` runs `later` turns of the innermost loop after `a`,
// in the same turn of all other loops.
bool conflict(const Step& a, const Step& b, const std::vector<int64_t>& turns, int64_t later = 0);

// The number of barriers in one run of the list, with all turns of its loops.
int64_t barriers(const std::vector<Step>& steps, const GridPhases& phases);

// Whether the list ends with a barrier.
bool ends_with_barrier(const std::vector<Step>& steps, const GridPhases& phases);

}  // namespace heddle::codegen
