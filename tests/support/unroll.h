// unrolled: the module with every scan written out, turn by turn: what a scan must be equal to.
//
//   %hT = scan @f(%h) {count = 2}    ->    %a = <the body of @f>(%h), %b = <the body of @f>(%a)
#pragma once
#include "ir/graph.h"

namespace heddle::testing {

ir::Module unrolled(const ir::Module& m);

}  // namespace heddle::testing
