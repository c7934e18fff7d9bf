// Puts a function's blocks in an order in which the warp's group with the lowest place is the one
// that is farthest behind.
//
//   @p bra $rare;  $join: bar.sync 0; ret;  $rare: ...; bra $join;   ->   @p bra $rare;  $rare: ...; bra $join;  $join: ...
//
// The text has that order, but for blocks that a compiler has moved behind what follows them: lanes
// would wait at a barrier for others of their warp that are on their way to it. A function in which
// that cannot happen stays as it is. Run once labels are resolved; `Instruction::next` keeps what
// follows in the text.
#pragma once
#include "tests/ptx/module.h"

namespace heddle::ptx {

void order_blocks(Function& f);

}  // namespace heddle::ptx
