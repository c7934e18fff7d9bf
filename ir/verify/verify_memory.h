// Checks planned memory: every value has bytes of its own or shares them rightly, and keeps them
// until its last reader.
//
//   %y: f32[4] = exp(%x) at %x        wrong where a later step reads %x:
//                                     "%x is overwritten by %y before add reads it"
//
// The plan is executed without data: each byte remembers the value that wrote it, so that views,
// concatenations in place and results over operands are judged by what they do, not by how they
// were decided. Of a scan the turns 0, 1, 2 and the last are executed in the memory around it: each
// finds its carries and its rows, and leaves its rows where they belong.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "ir/storage/turn_places.h"

namespace heddle::ir {

// One line per violation. Without a plan only views and bases are checked. Tests give other places than those that
// programs are made with, and see that wrong ones are found.
using FindTurnPlaces = std::function<TurnPlaces(const Graph& body, const Node& scan)>;
std::vector<std::string> verify_memory(const Graph& g, const Module* m, const FindTurnPlaces& places = turn_places);

}  // namespace heddle::ir
