// What values are made of.
//
//   %a = exp(%x), %b = neg(%x), %c = add(%a, %y)      dependencies of %c: %c, %a, %y, %x
#pragma once
#include <vector>

#include "ir/graph.h"

namespace heddle::ir {

// By ValueId index: those of `of` and what they are made of, by all operators, inputs included.
std::vector<char> dependencies(const Graph& g, const std::vector<ValueId>& of);

}  // namespace heddle::ir
