// Addresses of a program: the table of the state segment, addresses of planned values, and the lower bound of an
// entry's arena.
#pragma once
#include <map>

#include "codegen/program.h"
#include "ir/storage/storage.h"

namespace heddle::codegen {

// The offsets of the states of all graphs, by name. Graphs share states.
struct StateTable {
  std::map<std::string, int64_t> offsets;
  std::vector<Buffer> buffers;  // of a flat state, its members instead of itself
  int64_t cursor = -1;          // offset of the cursor, after the states; -1: no entry reads its own batches
  int64_t bytes = 0;

  int64_t reserve(int64_t size, int64_t alignment = ir::kArenaAlignment);
};
StateTable state_table(const ir::Module& m);

Buffer buffer(const ir::Value& v, BufferRole role, const Address& at);

// The addresses of one graph: of an entry, or of a body for one of its scans, inside `depth` loops.
struct Frame {
  const ir::Graph& graph;
  Address arena;                           // the start of the graph's arena
  std::map<ir::ValueId, Address> outside;  // roots outside of it: states, operands and results of the scan
  size_t depth = 0;
};
Frame entry_frame(const ir::Graph& g, const StateTable& states);
// Carries lie in the scan's results. The addresses of rows of slices and of stacked results advance with each turn.
Frame body_frame(const ir::Graph& body, const Frame& around, const ir::Node& scan);

// The address of a planned value: its place, or for a view the address inside its storage.
Address address(const Frame& frame, ir::ValueId v);
// The address of this turn's row in `all`, an operand or result of the scan. `depth` loops are around the body.
Address row(const Address& all, const ir::Type& row, const ir::Node& scan, size_t depth);

// The largest sum of live sizes at one step, each rounded up to the alignment, with the scratch of calls. A lower bound
// for every plan.
int64_t max_live_bytes(const ir::Module& m, const ir::Graph& g);

}  // namespace heddle::codegen
