// Loops of an instance: turns the nodes of one turn in the graph into a body, and adds a scan that runs it.
//
//   %h.of = <input>, %n = add(%h.of, %w)   ->   body @cell.of_32(carry %h.of, fixed %w) { ... }
//                                               %h.last = scan @cell.of_32(%h0, %w) {count = 20}
#pragma once
#include <string>
#include <vector>

#include "frontend/instantiate/instantiate.h"
#include "frontend/layer_context.h"

namespace heddle::frontend {

struct ScanTurns {
  int64_t count = 1;
  bool reverse = false;
};

// Appends a scan of the body to the graph and returns its results. Throws UserError at `where` if operands do not fit:
// "lstm 'r': ...".
ir::Values append_scan(Instance& e, const ir::Graph& body, const ir::Values& operands, const ScanTurns& turns,
                       const std::vector<std::string>& names, const std::string& title, const Location& where);

// Makes the loop. Returns the carries after the last turn, then the stacked values, [count, ...].
ir::Values run_loop(Instance& e, const LoopSpec& loop, const std::string& title, const Location& where);

}  // namespace heddle::frontend
