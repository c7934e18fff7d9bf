// Where things lie: the state segment's table, addresses of planned values, the lower bound of an entry's arena.
#pragma once
#include <map>

#include "codegen/program.h"
#include "ir/storage/storage.h"

namespace heddle::codegen {

// The states of all graphs by name, each at one offset: graphs share them.
struct StateTable {
  std::map<std::string, int64_t> offsets;
  std::vector<Buffer> buffers;  // members of a flat state are listed instead of it
  int64_t cursor = -1;          // of entries that feed themselves, behind the states; -1: there are none
  int64_t bytes = 0;

  int64_t reserve(int64_t size, int64_t alignment = ir::kArenaAlignment);
};
StateTable state_table(const ir::Module& m);

Buffer buffer(const ir::Value& v, BufferRole role, const Address& at);

// Where the values of one graph lie: of an entry, or of a body in one of its scans, `depth` loops deep.
struct Frame {
  const ir::Graph& graph;
  Address arena;                           // where the graph's own begins
  std::map<ir::ValueId, Address> outside;  // roots that lie elsewhere: states, what a scan gives its body
  size_t depth = 0;
};
Frame entry_frame(const ir::Graph& g, const StateTable& states);
// Carries lie in the scan's results, rows of slices and of stacked results move on with each turn.
Frame body_frame(const ir::Graph& body, const Frame& around, const ir::Node& scan);

// The address of a planned value: its own place, or inside the storage it is a view of.
Address address(const Frame& frame, ir::ValueId v);
// This turn's row of one of the operands or results of the scan that a body's frame is made for.
Address row(const Address& all, const ir::Type& row, const ir::Node& scan, size_t depth);

// The largest sum of live sizes at one step, each rounded up to the alignment, scratch of calls included. No plan needs
// less.
int64_t max_live_bytes(const ir::Module& m, const ir::Graph& g);

}  // namespace heddle::codegen
