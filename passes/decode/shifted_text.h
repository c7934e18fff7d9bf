// Removes the shift by one token at the start of a model that reads its text behind a first token.
//
//   %known: i32[2,3] = slice(%answer) {limits = [2,3], starts = [0,0]}, %answer: i32[2,4]
//   %before: i32[2,4] = pad(%known) {low = [0,1], high = [0,0], value = 0}
//     -> input %answer in the place of %before: who gives the tokens one by one begins with 0
#pragma once
#include <optional>

#include "ir/graph.h"

namespace heddle::passes {

struct FirstToken {
  ir::ValueId text;  // the input that replaces the shifted text, with the name of the old input
  int64_t token = 0;
};
// Replaces the shifted text by an input. Returns nullopt, and changes nothing, if the graph reads the text in another
// way.
std::optional<FirstToken> take_shifted_text(ir::Graph& g, ir::ValueId text);

}  // namespace heddle::passes
