// Update patterns: finds states of a graph that are updated alike, so that flatten can update them together.
//
//   %a.next = sub(%a, mul(%a.grad, broadcast(%lr)))        one bundle: slots {%a}, leaves {%a.grad}
//   %m.next = add(mul(%m, 0.9), %b.grad)                   one bundle: slots {%m, %b}, leaves {%b.grad}
//   %b.next = sub(%b, %m.next)
//
// A bundle is a set of states of one shape, such as a parameter and its moments. Their next values are computed element
// by element from each other, from leaves (other values of that shape, such as gradients), from broadcast scalars and
// from constants. Two bundles with equal signatures compute the same function.
#pragma once
#include <string>
#include <vector>

#include "ir/op_def.h"

namespace heddle::passes {

struct UpdateBundle {
  ir::Values states, next;  // by slot; next is invalid if the state is only read
  ir::Values leaves;
  std::string signature;  // the update as text, without shapes
};

// The role of a value in the computation of a next value.
enum class UpdatePart {
  state,     // a slot
  constant,  // the same in every element
  scalar,    // a broadcast of a value of rank 0
  step,      // an elementwise operator that belongs to the update
  leaf,      // any other value of the shape
};

struct UpdatePatterns {
  std::vector<std::vector<UpdateBundle>> sets;  // bundles with equal signatures, in the order of their updates
  std::vector<UpdatePart> parts;                // by ValueId index
};

// Finds the bundles with at least one parameter. Operators that depend on a state or a scalar belong to the update. So
// do operators that all bundles of a set apply to their leaves alike: in Adam the leaf is the gradient, not its square.
UpdatePatterns update_patterns(const ir::Graph& g);

}  // namespace heddle::passes
