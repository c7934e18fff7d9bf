// A text that the model itself moves by one token: what it reads is the text behind a first token.
//
//   %known: i32[2,3] = slice(%answer) {limits = [2,3], starts = [0,0]}, %answer: i32[2,4]
//   %before: i32[2,4] = pad(%known) {low = [0,1], high = [0,0], value = 0}
//     -> input %answer in the place of %before: who gives the tokens one by one begins with 0
#pragma once
#include <optional>

#include "ir/graph.h"

namespace heddle::passes {

struct FirstToken {
  ir::ValueId text;  // the input in the place of the moved text, of the same name
  int64_t token = 0;
};
// Nothing where the graph reads the text itself: then it stays as it is.
std::optional<FirstToken> take_shifted_text(ir::Graph& g, ir::ValueId text);

}  // namespace heddle::passes
