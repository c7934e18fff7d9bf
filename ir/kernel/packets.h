// Packets: elements of neighbouring columns that a thread loads, computes and stores together. A packet begins at a
// column that is a multiple of its width.
//
//   packets of 4:   row * 128 + column    neighbours, and no packet reaches into another one's place
//                   row * 6 + column      neighbours, but odd rows begin in the middle of a place
//                   row + column * 64     no neighbours
#pragma once
#include <functional>

#include "ir/kernel/access.h"

namespace heddle::ir {

// Whether all terms but the column are multiples of the packet's width, so that packets are aligned in memory.
bool in_whole_packets(const IndexExpr& linear, int64_t packet);
// Whether neighbouring columns are neighbours in memory, and packets are aligned.
bool neighbours_in_packets(const IndexExpr& linear, int64_t packet);

// The packets of a kernel. Kernel text and counts ask the functions below about them.
struct Packets {
  int64_t width = 1;
  bool groups = false;                   // packets for random numbers: a guarded read is then never one load
  std::function<bool(ValueId)> defined;  // whether the value is computed already, in a variable
};
// Whether a packet is one load: its elements are neighbours, and either all of them exist or none.
bool loads_packet(const Packets& p, const IndexMap& at, const IndexExpr& linear);
// Whether some operand from which the value is computed is loaded as packets.
bool reads_packets(const Packets& p, const Graph& k, ValueId v, const IndexMap& at);
// For a reduction inside each point of a packet: whether one loop serves all points of the packet. That holds if an
// operand is loaded as packets, or is the same for all columns.
bool reduces_packets(const Packets& p, const Graph& k, const Node& n, const ReductionAccess& access);

}  // namespace heddle::ir
