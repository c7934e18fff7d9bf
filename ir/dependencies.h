// dependencies: the values on which given values depend, directly or through other values.
//
//   %a = exp(%x), %b = neg(%x), %c = add(%a, %y)      dependencies of %c: %c, %a, %y, %x
#pragma once
#include <vector>

#include "ir/graph.h"

namespace heddle::ir {

// Flags by ValueId index: 1 for the values of `of` and for every value on which they depend, graph inputs included.
std::vector<char> dependencies(const Graph& g, const std::vector<ValueId>& of);

}  // namespace heddle::ir
