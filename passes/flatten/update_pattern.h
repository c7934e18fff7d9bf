// Update patterns: which states of a graph are updated alike, so that flatten may update them as one.
//
//   %a.next = sub(%a, mul(%a.grad, broadcast(%lr)))        one bundle: slots {%a}, leaves {%a.grad}
//   %m.next = add(mul(%m, 0.9), %b.grad)                   one bundle: slots {%m, %b}, leaves {%b.grad}
//   %b.next = sub(%b, %m.next)
//
// A bundle is a set of states of one shape whose next values are computed element by element from one another, from
// values of that shape (the leaves: gradients), from broadcast scalars and constants. Two bundles with one signature
// compute the same function.
#pragma once
#include <string>
#include <vector>

#include "ir/op_def.h"

namespace heddle::passes {

struct UpdateBundle {
  ir::Values states, next;  // by slot; next is invalid where the state is only read
  ir::Values leaves;
  std::string signature;  // shapes apart
};

// What the computation of a next value consists of.
enum class UpdatePart {
  state,     // a slot
  constant,  // the same in every element
  scalar,    // a broadcast of a value of rank 0
  step,      // an elementwise operator that belongs to the update
  leaf,      // anything else of the shape
};

struct UpdatePatterns {
  std::vector<std::vector<UpdateBundle>> sets;  // those with one signature together, in the order of their updates
  std::vector<UpdatePart> parts;                // by ValueId index
};

// Bundles with at least one parameter. Operators above a state or a scalar belong to the update, and so do those that
// all bundles of a set apply to their leaves alike: in Adam the leaf is the gradient, not its square.
UpdatePatterns update_patterns(const ir::Graph& g);

}  // namespace heddle::passes
