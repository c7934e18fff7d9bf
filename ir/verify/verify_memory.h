// verify_memory: checks planned memory. Every value must keep its bytes unchanged until its last reader.
//
//   %y: f32[4] = exp(%x) at %x        wrong where a later step reads %x:
//                                     "%x is overwritten by %y before add reads it"
//
// The verifier executes the plan without data. Each byte records the value that wrote it. So views, concatenations in
// place and results over operands are checked by their effect, independently of the pass that planned them. Of a scan,
// turns 0, 1, 2 and the last are executed in the memory of the surrounding graph: each turn must find its carries and
// rows, and must leave its rows in the right place.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "ir/storage/turn_places.h"

namespace heddle::ir {

// One line per violation. Without a plan only views and bases are checked. Tests pass wrong `places` to see that they
// are detected.
using FindTurnPlaces = std::function<TurnPlaces(const Graph& body, const Node& scan)>;
std::vector<std::string> verify_memory(const Graph& g, const Module* m, const FindTurnPlaces& places = turn_places);

}  // namespace heddle::ir
