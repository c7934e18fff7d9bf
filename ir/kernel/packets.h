// Packets: elements of neighbouring columns that a thread loads, computes and stores together. Each begins at a column that
// is a multiple of its width.
//
//   packets of 4:   row * 128 + column    neighbours, and no packet reaches into another one's place
//                   row * 6 + column      neighbours, but odd rows begin in the middle of a place
//                   row + column * 64     no neighbours
#pragma once
#include "ir/index_map.h"

namespace heddle::ir {

// Every term but the column itself moves in steps of whole packets.
bool in_whole_packets(const IndexExpr& linear, int64_t packet);
// Neighbouring columns are neighbours in memory, and packets of them lie on whole packets.
bool neighbours_in_packets(const IndexExpr& linear, int64_t packet);

}  // namespace heddle::ir
