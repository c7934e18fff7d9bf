// Packets: elements of neighbouring columns that a thread loads, computes and stores together. Each
// begins at a column that is a multiple of its width.
//
//   packets of 4:   row * 128 + column    neighbours, and no packet reaches into another one's place
//                   row * 6 + column      neighbours, but odd rows begin in the middle of a place
//                   row + column * 64     no neighbours
#pragma once
#include <functional>

#include "ir/kernel/access.h"

namespace heddle::ir {

// Every term but the column itself moves in steps of whole packets.
bool in_whole_packets(const IndexExpr& linear, int64_t packet);
// Neighbouring columns are neighbours in memory, and packets of them lie on whole packets.
bool neighbours_in_packets(const IndexExpr& linear, int64_t packet);

// Elements of neighbouring columns that a thread takes at once, where a kernel's text and its counts ask what they are.
struct Packets {
  int64_t width = 1;
  bool groups = false;                   // of random numbers: nothing is read under a guard
  std::function<bool(ValueId)> defined;  // what is no longer computed where it is needed
};
// Whether they are one load: neighbours, and all of them exist, or none.
bool loads_packet(const Packets& p, const IndexMap& at, const IndexExpr& linear);
// Something that the value is made of is loaded so.
bool reads_packets(const Packets& p, const Graph& k, ValueId v, const IndexMap& at);
// A reduction inside each point of a packet: of something that it reads neighbouring columns are
// neighbours in memory, or all columns read the same. Then its loops go round all of the packet's
// points.
bool reduces_packets(const Packets& p, const Graph& k, const Node& n, const ReductionAccess& access);

}  // namespace heddle::ir
